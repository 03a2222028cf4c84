/* The files of a recording's streams made one. Each is appended to the first, which at last gets the name of
 * the whole: so joining takes no second copy of all, and what has that name is replaced at once or not at
 * all. Owner: nothing is kept. Files are read and written in place: not from a loop that serves others. */
#pragma once
#include <stddef.h>

#include "base/err.h"

/* False with what went wrong: each stream is whole then in one of the parts that are left. `bytes` is the
 * size of the whole. */
bool recording_join(const char *const *parts, size_t count, const char *path, uint64_t *bytes,
                    struct err *err);
