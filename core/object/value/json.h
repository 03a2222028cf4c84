/* Packed values to compact JSON text, keys in their stored order.
 * Owner: the caller's buffer. May be called from any thread and callback. */
#pragma once
#include "base/buf.h"
#include "object/value/value.h"

/* Appends `v`; absent is written as null. Doubles in the shortest form that reads back the same; 1.0 is
 * written 1.0. */
void json_write(struct buf *out, struct value v);
