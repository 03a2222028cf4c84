/* Pieces of URLs: escaping, and which names may stand in a path (H-12).
 * Owner: everything borrowed. May be called anywhere. */
#pragma once
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* Appends `text` with all but letters, digits and -._~ as %XX. */
void url_escape(struct str text, struct buf *out);
/* A name may not be empty, "." or "..", nor hold '/' or '%'. */
bool url_name_check(struct str name, struct err *err);
