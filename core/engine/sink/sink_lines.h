/* Lines at the end of a file that others may write, too. Owner: the caller's descriptor, which must be open
 * for reading and writing with O_APPEND, and is of no other use afterwards. Blocks on the disk. */
#pragma once
#include <stddef.h>

#include "base/str.h"

/* Appends complete lines. Returns how many of the bytes are there afterwards, which are complete lines again:
 * of a line that has no room nothing stays, or a line of blanks if another process has appended behind it.
 * Fewer than all with errno. `path` is for the log. */
size_t sink_lines_append(int fd, const char *path, struct str lines);
