/* Scripts that `-f FILE|DIR` names: a file is one script; of a directory each *.lua except *_spec.lua, names
 * that begin with `_` (modules) and dot entries. Owner: the list belongs to the caller; script_files_clear
 * frees it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct script_files {
    char **paths; /* in one spelling, however they were typed */
    char **names; /* the path without `.lua`; no two are equal */
    size_t count;
};

/* A script that is named twice is one. ERR_NOT_FOUND or ERR_INVALID names the argument, or the two that are
 * the same file or would have the same name. The order is that of the arguments, in a folder that of the
 * names. */
bool script_files_find(const char *const *arguments, size_t count, struct script_files *out, struct err *err);
/* The same of an engine that runs: a file that was named itself is listed whether it is there or not, and a
 * folder may be empty. */
bool script_files_rescan(const char *const *arguments, size_t count, struct script_files *out,
                         struct err *err);
bool script_files_is_folder(const char *argument);
void script_files_clear(struct script_files *files);
