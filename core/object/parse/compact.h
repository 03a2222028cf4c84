/* JSON text without the blanks between its tokens, every byte of a token as it was.
 * Owner: the text is borrowed. Any thread. */
#pragma once
#include "base/buf.h"

/* Appends the text without blanks. Returns false if it is not one valid value, or if it has what parsers take
 * in different ways: numbers other than integers of 64 bits with a sign, and strings with a NUL. */
bool json_compact(struct str text, struct buf *out);
