/* Lua files that were written and not closed since, as inotify tells: a writer may be in the middle of one.
 * Owner: the watch on the files, on its thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Time that a writer has for a file; afterwards it is loaded as it is. */
enum { UNCLOSED_MAX_MS = 5000 };

struct inotify_event;

struct unclosed_file {
    int folder; /* watch descriptor */
    char *name;
    int64_t since_ms;
};

struct unclosed_files {
    struct unclosed_file *items;
    size_t count;
    int64_t from_ms; /* since then some file has been open, or was waited for as long as that may take */
};

/* Learns from an event. */
void unclosed_files_note(struct unclosed_files *files, const struct inotify_event *event, int64_t now_ms);
/* Returns how long to wait until each file has been closed or had its time; 0: not at all. Writers that begin
 * one after another have that time together: then it is 0 once, whatever is still open. */
int64_t unclosed_files_wait_ms(struct unclosed_files *files, int64_t now_ms);
/* Removes a file whose time is over. Returns false if there is none; the caller frees file->name. */
bool unclosed_files_take_late(struct unclosed_files *files, int64_t now_ms, struct unclosed_file *file);
void unclosed_files_clear(struct unclosed_files *files);
