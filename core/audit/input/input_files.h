/* Which files a path means.
 * Owner: whoever holds the struct. Reads folders: for commands only. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/input/input_exclude.h"
#include "base/err.h"

struct input_file {
    char *path;
    uint64_t size; /* 0: not known, as of a pipe */
};

struct input_files {
    struct input_file *file;
    size_t count, room;
};

/* The file itself; of a folder those whose names say that they hold objects, in the order of their names,
 * with `recursive` also those of the folders in it. What begins with a dot is left out, and a link to a
 * folder is not followed; nor is what `exclude` leaves out (NULL: nothing). `trouble` is told of folders
 * within that cannot be read. */
bool input_files_find(struct input_files *files, const char *path, bool recursive,
                      struct input_exclude *exclude, void (*trouble)(void *ctx, const struct err *err),
                      void *ctx, struct err *err);
void input_files_clear(struct input_files *files);
