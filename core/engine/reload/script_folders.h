/* Directories of scripts: of `-f DIR` the files in it, with -R also those of the directories below. Scripts
 * are *.lua except *_spec.lua; names that begin with `_` (modules) or a dot are passed over, and with them
 * all that is below a directory of such a name: ..data and its like, too, behind the links of a mounted
 * ConfigMap. Links to directories are followed, as a ConfigMap shows a directory by a link, but for one that
 * leads back to where the walk came from. Owner: stateless. */
#pragma once
#include <stdbool.h>

#include "base/err.h"

/* Bounds of -R, so that `-f / -R` ends: levels below the directory, directories and files in all. */
enum { SCRIPT_FOLDERS_DEPTH_MAX = 16, SCRIPT_FOLDERS_MAX = 1000, SCRIPT_FOLDERS_FILES_MAX = 2000 };

struct script_folders_visitor {
    /* Returns whether a file of that name is one; NULL: a script. */
    bool (*takes)(const char *name);
    /* Called before the directory is read, so that whoever watches it misses nothing; NULL: not wanted. */
    void (*folder)(void *ctx, const char *path);
    /* Called for each, in the order of the paths; NULL: not wanted. Returns false and sets err to end the
     * walk. */
    bool (*script)(void *ctx, const char *path, struct err *err);
    void *ctx;
};

/* Returns false and sets err: ERR_IO names a directory that cannot be read, ERR_LIMIT the bound and the
 * place, or the visitor's. A directory below that vanishes meanwhile is none. */
bool script_folders_walk(const char *folder, bool recursive, const struct script_folders_visitor *visitor,
                         struct err *err);
/* Returns whether there is a script in the directory, with `recursive` also below it. */
bool script_folders_have_any(const char *folder, bool recursive);
