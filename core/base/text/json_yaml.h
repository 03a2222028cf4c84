/* JSON text as a block of YAML: one key or item a line, texts in quotes, so that none is taken for a number.
 * Owner: the buffer is the caller's. Any thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Appends the object or array `json`, which is well-formed; what it holds behind an error is left out. Lines
 * begin with `depth` times two blanks, but the first one when `in_line`, as it goes on behind a "- ". An
 * empty one, and what is no container, is one line. */
void json_yaml(struct buf *out, struct str json, size_t depth, bool in_line);
/* The same behind "key:". Lists are not indented below their key, as kubectl has it. */
void json_yaml_field(struct buf *out, const char *key, struct str json, size_t depth);
