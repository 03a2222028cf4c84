/* Reading of small complete files, and writing of all bytes. Owner: the caller's buffer. Blocks on the disk;
 * for loading, and for files as small as a token. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* Appends the content. ERR_NOT_FOUND, ERR_IO, or ERR_LIMIT above `max` bytes; the message begins with the
 * path. */
bool file_read(const char *path, size_t max, struct buf *out, struct err *err);
/* Writes all the bytes, however many calls that takes. False with errno. */
bool file_write(int fd, struct str bytes);
