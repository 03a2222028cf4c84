/* `-f builtin:` is the folder of rules that is installed with the program, `-f builtin:pod-security` one file
 * of it. Owner: the caller; resolved paths live in a list of their own. */
#pragma once
#include <stdbool.h>

#include "base/cli/flags.h"
#include "base/err.h"

/* Paths that took the place of arguments, or names. */
struct builtin_paths {
    char **items;
    size_t count;
};

/* "builtin:" and "builtin:images" of each file; none when the rules are not installed. */
void builtin_rules_list(struct builtin_paths *names);
/* Returns the folder of the rules, which the caller frees; NULL: they are not installed. */
char *builtin_rules_folder(void);
/* Replaces each builtin: in `files` by the path of a file or a folder. ERR_NOT_FOUND names the argument: an
 * unknown file with the nearest name, or all folders in which there are no rules. */
bool builtin_rules_resolve(struct flag_list *files, struct builtin_paths *paths, struct err *err);
void builtin_paths_clear(struct builtin_paths *paths);
