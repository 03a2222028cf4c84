/* Pairs the scripts of a running engine with files, and decides what happens to both. Owner: the command, on
 * the main thread; rows borrow from both lists. */
#pragma once
#include <stdbool.h>

#include "app/plan/plan_rows.h"

/* A script that runs, or a file. */
struct plan_script {
    const char *name, *path;
    const char *error;   /* of a file that does not load, or that a reload would refuse; NULL: none */
    const char *sources; /* a hash of all texts */
    const struct inventory *plan;
    int64_t generation;              /* of one that runs */
    bool trusted;                    /* one that runs, by the engine's flags */
    bool in_folder;                  /* a file that was found in a folder: what is not there goes */
    const struct plan_script *other; /* that it stands for; NULL: none */
};

/* Sets `other` by the names: a file stands for the script of its name; else for the one with the same last
 * part, when there is one alone on either side, as one folder may be reached by several paths. */
void plan_pair(struct plan_script *running, size_t running_count, struct plan_script *files,
               size_t file_count);
/* The same, where it was not done, and what becomes of each. Scripts that run and that no file stands for go,
 * when they lie in a folder of files, or beside what stands for those. */
void plan_match(struct plan_script *running, size_t running_count, struct plan_script *files,
                size_t file_count, struct plan_rows *rows);
