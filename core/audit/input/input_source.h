/* Bytes of a file, a pipe or a device, unpacked if they are gzip or zstd, by their first bytes and not by the
 * name. Owner: the caller. Blocks; not from callbacks of a loop. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct input_source;

/* Takes `fd`. */
struct input_source *input_source_new(int fd);
/* NULL is allowed. */
void input_source_free(struct input_source *source);
/* Reads at least one byte, at most `room`; a `*got` of 0 is the end. Errors do not name the file. */
bool input_source_read(struct input_source *source, char *to, size_t room, size_t *got, struct err *err);
/* Returns the number of bytes read from the file, before unpacking. */
uint64_t input_source_taken(const struct input_source *source);
