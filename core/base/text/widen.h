/* Integers of JSON beyond 64 bits, which parsers of C refuse and Go reads as doubles (H-19). May be called
 * anywhere. */
#pragma once
#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

/* Copies JSON text with an exponent behind each integer beyond int64_t and, if `has_unsigned`, uint64_t,
 * which makes it a double. Returns false, with nothing in `out`, if there is none. */
bool widen_integers(struct str json, bool has_unsigned, struct buf *out);
