/* Texts in XML and HTML: what would be markup is escaped, and what XML may not hold, or is no UTF-8, is
 * replaced by U+FFFD. Owner: the buffer is the caller's. Any thread. */
#pragma once
#include "base/buf.h"

/* Fit for an element and for an attribute in quotes of either kind. */
void markup_put(struct buf *out, struct str text);
/* ` name="value"`. */
void markup_attribute(struct buf *out, const char *name, struct str value);
