/* Names an object from the beginning of its JSON text, when the whole is too large to be parsed.
 * Owner: everything borrowed. May be called anywhere. */
#pragma once
#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

/* Appends "Pod shop/web-1", as far as kind, namespace and name stand in `head`, or "an object". `event`: the
 * object is the field `object` of a watch event. */
void object_head_name(struct str head, bool event, struct buf *out);
