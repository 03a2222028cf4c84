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
/* The same without those that it still holds. */
uint64_t input_source_given(const struct input_source *source);
/* Returns the size of a regular file that is not packed, from where reading began; 0 for all others. */
uint64_t input_source_plain_size(const struct input_source *source);
/* Continues such a file at that byte, whatever other processes read of it; it seems to end at `until`, if not
 * 0.
 */
void input_source_move(struct input_source *source, uint64_t at, uint64_t until);
/* Reads bytes of it from anywhere, without moving; returns their number. */
size_t input_source_look(const struct input_source *source, uint64_t at, char *to, size_t room);
/* Returns the descriptor; a fork of the process may have another for the file. */
int input_source_fd(const struct input_source *source);
void input_source_set_fd(struct input_source *source, int fd);
