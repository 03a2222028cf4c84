/* Files that are being written; see unclosed_files.h. */
#include "engine/reload/unclosed_files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/str.h"

/* More files than an editor or a deployment writes at once. The rest is loaded without waiting. */
enum { FILES_MAX = 1000 };

static struct unclosed_file *find(const struct unclosed_files *files, int folder, const char *name)
{
    for (size_t i = 0; i < files->count; i++)
        if (files->items[i].folder == folder && strcmp(files->items[i].name, name) == 0)
            return &files->items[i];
    return NULL;
}

/* Forgets all files of a folder that is no longer watched, or all. */
static void forget(struct unclosed_files *files, const struct inotify_event *event)
{
    for (size_t i = files->count; i-- > 0;) {
        if (event->wd != -1 && files->items[i].folder != event->wd) continue;
        free(files->items[i].name);
        array_remove(files->items, files->count, i);
    }
}

void unclosed_files_note(struct unclosed_files *files, const struct inotify_event *event, int64_t now_ms)
{
    /* After an overflow, closes may be among the lost events. */
    if (event->mask & (IN_IGNORED | IN_Q_OVERFLOW)) forget(files, event);
    if (!event->len || !str_ends(str_of(event->name), STR(".lua"))) return;
    struct unclosed_file *file = find(files, event->wd, event->name);
    if (event->mask & (IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO)) {
        if (!file) return;
        free(file->name);
        array_remove(files->items, files->count, (size_t)(file - files->items));
    } else if (event->mask & IN_MODIFY && !file && files->count < FILES_MAX) {
        if (files->count == 0) files->from_ms = now_ms;
        *array_add(files->items, files->count) =
            (struct unclosed_file){event->wd, xstrdup(event->name), now_ms};
    }
}

int64_t unclosed_files_wait_ms(struct unclosed_files *files, int64_t now_ms)
{
    int64_t most_ms = 0, together_ms = files->from_ms + UNCLOSED_MAX_MS - now_ms;
    for (size_t i = 0; i < files->count; i++) {
        int64_t left_ms = files->items[i].since_ms + UNCLOSED_MAX_MS - now_ms;
        if (left_ms > most_ms) most_ms = left_ms;
    }
    if (most_ms > 0 && together_ms <= 0) {
        files->from_ms = now_ms;
        return 0;
    }
    return most_ms < together_ms ? most_ms : together_ms > 0 ? together_ms : 0;
}

bool unclosed_files_take_late(struct unclosed_files *files, int64_t now_ms, struct unclosed_file *file)
{
    for (size_t i = 0; i < files->count; i++) {
        if (files->items[i].since_ms + UNCLOSED_MAX_MS > now_ms) continue;
        *file = files->items[i];
        array_remove(files->items, files->count, i);
        return true;
    }
    return false;
}

void unclosed_files_clear(struct unclosed_files *files)
{
    for (size_t i = 0; i < files->count; i++) free(files->items[i].name);
    free(files->items);
    *files = (struct unclosed_files){0};
}
