/* Special forms of strings: timestamps, UUIDs, digests and numbers in binary, if they convert back to the
 * same string. Owner: the caller's memory. May be called anywhere. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "object/value/value.h"

/* Longest prefix of a digest that is stored in binary; with it the text fits struct text. */
enum { STRFORM_PREFIX_MAX = 256 };

/* Returns the most words that a blob for `text` can need. */
size_t strform_room(size_t length);
/* Writes the blob for a string of more than three bytes, special or plain; returns its words. */
size_t strform_encode(struct str text, uint32_t *blob);
/* Returns the string of a blob: in the blob itself, or written to `text`. */
struct str strform_text(const uint32_t *blob, struct text *text);
