/* Writing JSON text field by field: each call adds the comma, the key and the value. Behind a line end there
 * is no comma: whoever begins a line has put it. Owner: the buffer is the caller's. Any thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Writes the comma and the key, whose value the caller appends; no key (`p` NULL) inside an array. */
void json_key(struct buf *out, struct str key);
/* Writes a value that is JSON already. */
void json_raw(struct buf *out, const char *key, struct str json);
/* `key` NULL inside an array. */
void json_open(struct buf *out, const char *key, char bracket);
void json_close(struct buf *out, char bracket);
void json_text(struct buf *out, const char *key, const char *value);
void json_str(struct buf *out, const char *key, struct str value);
void json_str_unless_empty(struct buf *out, const char *key, struct str value);
void json_int(struct buf *out, const char *key, int64_t value);
void json_bool(struct buf *out, const char *key, bool value);
/* RFC 3339 in UTC; nothing is written for 0. */
void json_time(struct buf *out, const char *key, int64_t wall_us);

/* --- JSON text as a block of YAML: one key or item a line, texts in quotes, so that none is taken for a
 * number. Owner: the buffer is the caller's. Any thread. */

/* Appends the object or array `json`, which is well-formed; what it holds behind an error is left out. Lines
 * begin with `depth` times two blanks, but the first one when `in_line`, as it goes on behind a "- ". An
 * empty one, and what is no container, is one line. Lists are not indented below their key, as kubectl has
 * it. */
void json_yaml(struct buf *out, struct str json, size_t depth, bool in_line);
/* Likewise for a complete text, as users write it: without quotes where nothing can be taken for another
 * type, and as a block if it has several lines. */
void json_yaml_bare(struct buf *out, struct str json);
