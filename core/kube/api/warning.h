/* Warning headers of the server (H-15): each different one is logged once. Owner: the I/O thread. */
#pragma once
#include "base/str.h"

struct warnings;

struct warnings *warnings_new(void);
void warnings_free(struct warnings *warnings);
/* `header` is the value of one or more Warning headers, joined by commas, `request` what was answered by it:
 * "GET /api/v1/pods". Returns how many were new. */
size_t warnings_log(struct warnings *warnings, struct str header, const char *request);

/* The text of the next 299 warning in `*rest`, unescaped into `out` (room for `size` bytes, cut beyond,
 * terminated); moves
 * `*rest` on. False when there is none. */
bool warning_next(struct str *rest, char *out, size_t size);
