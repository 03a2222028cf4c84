/* Base64 as RFC 4648 has it, with padding.
 * Owner: the caller's buffers. May be called anywhere. */
#pragma once
#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

void base64_encode(struct str bytes, struct buf *out);
/* Blanks and line ends between the characters are skipped, as files are often wrapped. False when it is not
 * Base64; `out` may have grown then. */
bool base64_decode(struct str text, struct buf *out);
