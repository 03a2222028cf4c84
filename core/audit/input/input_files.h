/* Files that a path names.
 * Owner: whoever holds the struct. Reads directories: for commands only. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/err.h"

/* --- Names and paths that are left out of folders, by fnmatch(3), and which of them there were.
 * Owner: whoever holds the struct; zeroed it leaves nothing out. May be called anywhere. */

struct input_exclude {
    char **patterns; /* as they are compared: without `./` before and slashes behind */
    bool *used;      /* whether it left something out */
    size_t count;
};

void input_exclude_init(struct input_exclude *exclude, const char *const *patterns, size_t count);
/* Compares a file or folder by its name and by its path below the folder that is read. All patterns are
 * asked, so that one is not unused because another leaves out the same. */
bool input_exclude_leaves_out(struct input_exclude *exclude, const char *name, const char *below);
void input_exclude_clear(struct input_exclude *exclude);

/* --- input_files */

struct input_file {
    char *path;
    uint64_t size; /* 0: not known, as of a pipe */
};

struct input_files {
    struct input_file *file;
    size_t count;
};

/* The file itself; of a folder those whose names say that they hold objects, in the order of their names,
 * with `recursive` also those of the folders in it. What begins with a dot is left out, and a link to a
 * folder is not followed; nor is what `exclude` leaves out (NULL: nothing). `trouble` is told of folders
 * within that cannot be read. */
bool input_files_find(struct input_files *files, const char *path, bool recursive,
                      struct input_exclude *exclude, void (*problem)(void *ctx, const struct err *err),
                      void *ctx, struct err *err);
void input_files_clear(struct input_files *files);
