/* Scripts that `-f FILE|DIR` names: a file is one script; of a directory those that script_folders.h finds. A
 * text that was given (bundle.h) is a script, too. Owner: the list belongs to the caller; script_files_clear
 * frees it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Identity of a file, whatever its names; 0: it is missing. */
struct script_file_id {
    uint64_t device, inode;
};

struct script_files {
    char **paths; /* normalized, however they were typed */
    char **names; /* paths without `.lua`, or "builtin:pod-security"; all different */
    struct script_file_id *ids;
    size_t count;
};

/* Arguments of -f. Borrowed. */
struct script_search {
    const char *const *arguments;
    size_t count;
    bool recursive;      /* -R: directories with all that is below them */
    const char *builtin; /* folder of the rules that ship; NULL: none are named so */
};

/* Finds the scripts that the arguments name; a script named twice is one. Returns false and sets
 * ERR_NOT_FOUND or ERR_INVALID, which names the argument, or the two that are the same file or have the same
 * name; or another error, of script_folders_walk. The order is that of the arguments, within a directory that
 * of the paths. */
bool script_files_find(const struct script_search *search, struct script_files *out, struct err *err);
/* Like script_files_find, for a running engine: a file named as an argument is listed even if it is missing,
 * and a directory may be empty. */
bool script_files_rescan(const struct script_search *search, struct script_files *out, struct err *err);
bool script_files_is_folder(const char *argument);
void script_files_clear(struct script_files *files);
