/* Specs that `kubelua test DIR|FILE ...` runs: a file is one; of a directory its *_spec.lua and those in its
 * subdirectory `spec`, with the directories below that; of a directory that is itself named so, with the
 * directories below it; with -R, of any with all that script_folders.h walks. Owner: the list belongs to the
 * caller; spec_files_clear frees it. */
#pragma once
#include <stdbool.h>

#include "base/cli/flags.h"
#include "base/err.h"

struct spec_files {
    char **paths;
    size_t count;
};

/* Finds specs in the order of the arguments, in a directory by name. ERR_NOT_FOUND names the argument, or the
 * places searched. */
bool spec_files_find(const struct flag_list *arguments, bool recursive, struct spec_files *out,
                     struct err *err);
void spec_files_clear(struct spec_files *files);
