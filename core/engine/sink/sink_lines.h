/* Lines at the end of a file that others may write, too. Owner: the caller's descriptor, which must be open
 * for reading and writing with O_APPEND, and is of no other use afterwards. Blocks on the disk. */
#pragma once
#include <stddef.h>

#include "base/str.h"

/* Appends complete lines. Returns how many of the bytes are there afterwards, which are complete lines again:
 * of a line that has no room nothing stays. Fewer than all with errno. */
size_t sink_lines_append(int fd, struct str lines);
