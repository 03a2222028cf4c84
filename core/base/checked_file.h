/* Files that are written once, from beginning to end, and are right or refused: a header with a format and
 * the length, and a checksum of all bytes. A file that was cut off, or in which a bit changed, is never taken
 * for a complete one. Owner: the caller, on one thread. Blocks on the disk. Numbers are stored as this
 * machine has them. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* Distinguishes files: eight bytes, and a number that changes with the meaning of the rest. */
struct checked_format {
    char magic[8];
    uint32_t number;
};

struct checked_out;

/* Begins a file on an empty descriptor, which stays the caller's. */
struct checked_out *checked_out_new(int fd, const struct checked_format *format);
/* Appends. A failure is reported by checked_out_end. */
void checked_out_put(struct checked_out *out, const void *data, size_t size);
void checked_out_u32(struct checked_out *out, uint32_t number);
/* Length and bytes. */
void checked_out_str(struct checked_out *out, struct str text);
/* Completes the file, waits until the disk has it, and frees `out`. Until then the file is no valid one. */
bool checked_out_end(struct checked_out *out, struct err *err);

struct checked_in;

/* Opens a file of this format. NULL with ERR_NOT_FOUND, ERR_IO, or ERR_PARSE: it is no such file, or not
 * complete, or belongs to another user, or others may write it. The message begins with the path. */
struct checked_in *checked_in_open(const char *path, const struct checked_format *format, struct err *err);
/* Returns the bytes that are left: a bound for lengths that are read, which may be wrong until the end. */
size_t checked_in_left(const struct checked_in *in);
/* Reads exactly so many bytes; false if there are less, from then on. */
bool checked_in_get(struct checked_in *in, void *data, size_t size);
bool checked_in_u32(struct checked_in *in, uint32_t *number);
/* Returns a text of at most `max` bytes, malloc'ed and terminated; NULL likewise. */
char *checked_in_str(struct checked_in *in, size_t max);
/* Ends the reading: true if all bytes were read and are as they were written. Nothing that was read may be
 * used before. Call once. */
bool checked_in_end(struct checked_in *in, struct err *err);
/* NULL is allowed. */
void checked_in_free(struct checked_in *in);
