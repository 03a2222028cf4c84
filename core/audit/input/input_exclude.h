/* Names and paths that are left out of folders, by fnmatch(3), and which of them there were.
 * Owner: whoever holds the struct; zeroed it leaves nothing out. May be called anywhere. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

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
