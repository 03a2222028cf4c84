/* Files that were read, by what they are and not by what they are called.
 * Owner: whoever holds the struct; zero-initialised is empty and valid. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct input_seen_file {
    dev_t device;
    ino_t number;
    bool is_there;
};

struct audit_input_seen {
    struct input_seen_file *file; /* open addressing, at most half full */
    size_t count, room;
};

/* False: it was added before. */
bool input_seen_add(struct audit_input_seen *seen, const struct stat *is);
void audit_input_seen_clear(struct audit_input_seen *seen);
