/* Joins the files of a recording's streams. Each is appended to the first, which is renamed at the end:
 * joining needs no second copy, and an existing file is replaced at once or not at all. Owner: stateless.
 * Reads and writes files in place: not from a loop that serves others. */
#pragma once
#include <stddef.h>

#include "base/err.h"

/* Returns false and sets err on failure: each stream is then complete in one of the remaining files. `bytes`
 * is the total size. */
bool recording_join(const char *const *parts, size_t count, const char *path, uint64_t *bytes,
                    struct err *err);
