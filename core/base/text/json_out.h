/* Writing JSON text field by field: each call adds the comma, the key and the value. Behind a line end there
 * is no comma: whoever begins a line has put it. Owner: the buffer is the caller's. Any thread. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* `key` NULL inside an array. */
void json_open(struct buf *out, const char *key, char bracket);
void json_close(struct buf *out, char bracket);
void json_text(struct buf *out, const char *key, const char *value);
void json_str(struct buf *out, const char *key, struct str value);
void json_str_unless_empty(struct buf *out, const char *key, struct str value);
void json_int(struct buf *out, const char *key, int64_t value);
/* Null when it is not finite. */
void json_number(struct buf *out, const char *key, double value);
void json_bool(struct buf *out, const char *key, bool value);
/* RFC 3339 in UTC; nothing is written for 0. */
void json_time(struct buf *out, const char *key, int64_t wall_us);
