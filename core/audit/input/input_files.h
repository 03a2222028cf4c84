/* Files that a path names. Owner: the caller. Reads directories: for commands only. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/err.h"

/* --- Names and paths that are omitted from directories, by fnmatch(3), and which patterns were used. Owner:
 * the caller; zero-initialised it omits nothing. May be called anywhere. */

struct input_exclude {
    char **patterns; /* as compared: without `./` before and slashes after */
    bool *used;      /* whether it omitted an entry */
    size_t count;
};

void input_exclude_init(struct input_exclude *exclude, const char *const *patterns, size_t count);
/* Compares a file or directory by its name and by its path below the directory that is read. Compares all
 * patterns, so that each one that matches counts as used. */
bool input_exclude_leaves_out(struct input_exclude *exclude, const char *name, const char *below);
void input_exclude_clear(struct input_exclude *exclude);

/* --- input_files */

struct input_file {
    char *path;
    uint64_t size; /* 0: unknown, as for a pipe */
};

struct input_files {
    struct input_file *file;
    size_t count;
};

/* Finds a file itself, or in a directory all files whose names suggest objects, ordered by name, with
 * `recursive` also below. Omits dot files, links to directories, and what `exclude` matches (NULL: nothing).
 * `trouble` reports directories within that cannot be read. */
bool input_files_find(struct input_files *files, const char *path, bool recursive,
                      struct input_exclude *exclude, void (*problem)(void *ctx, const struct err *err),
                      void *ctx, struct err *err);
void input_files_clear(struct input_files *files);
