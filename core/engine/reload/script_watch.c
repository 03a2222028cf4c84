/* inotify on directories; see script_watch.h. */
#include "engine/reload/script_watch.h"

#include <errno.h>
#include <ev.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/array.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/reload/unclosed_files.h"

enum {
    /* A write is reported when the file is closed, and on the way; reads are not. */
    EVENTS = IN_CLOSE_WRITE | IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB |
             IN_DELETE_SELF | IN_MOVE_SELF,
    /* Events for a directory that only holds a link: other files in it may change often. */
    LINK_EVENTS = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO,
    LINKS_MAX = 16,       /* links on the way to a file; about the system's own limit */
    LONGEST_SETTLES = 20, /* bound for files written without a pause, in settle times */
};

struct watched_folder {
    int descriptor;
    char *path;
};

struct script_watch {
    struct loop *loop;
    int fd;
    ev_io readable;
    struct timer settle;
    int64_t settle_ms, first_ms; /* `first_ms`: time of the first event that was not reported; 0: none */
    const char *reload;          /* for messages */
    void (*changed)(void *ctx);
    void *ctx;
    struct watched_folder *folders;
    size_t folder_count;
    struct unclosed_files unclosed;
};

static void on_settled(struct timer *timer)
{
    struct script_watch *watch = container_of(timer, struct script_watch, settle);
    watch->first_ms = 0;
    watch->changed(watch->ctx);
}

/* Delays the scan while events come, but not for ever: a log file in the directory could postpone it
 * always. */
static void wait_for_calm(struct script_watch *watch)
{
    struct clock *clock = loop_clock(watch->loop);
    int64_t now_ms = clock_now_ms(clock), left_ms = watch->settle_ms;
    if (!watch->first_ms) watch->first_ms = now_ms;
    int64_t latest_ms = watch->first_ms + LONGEST_SETTLES * watch->settle_ms;
    if (now_ms + left_ms > latest_ms) left_ms = latest_ms > now_ms ? latest_ms - now_ms : 0;
    timer_cancel(&watch->settle);
    timer_start(&watch->settle, clock, left_ms);
}

static const char *folder_of(const struct script_watch *watch, int descriptor)
{
    for (size_t i = 0; i < watch->folder_count; i++)
        if (watch->folders[i].descriptor == descriptor) return watch->folders[i].path;
    return NULL;
}

/* The directory is gone, such as the one behind ..data of a ConfigMap that changed. */
static void forget_folder(struct script_watch *watch, int descriptor)
{
    for (size_t i = 0; i < watch->folder_count; i++) {
        if (watch->folders[i].descriptor != descriptor) continue;
        free(watch->folders[i].path);
        array_remove(watch->folders, watch->folder_count, i);
        return;
    }
}

/* Drains the events. All files are scanned after any of them, which is cheap and cannot miss a change; what
 * they tell is only which files are being written. */
static void on_readable(struct ev_loop *ev, ev_io *io, int events)
{
    struct script_watch *watch = container_of(io, struct script_watch, readable);
    int64_t now_ms = clock_now_ms(loop_clock(watch->loop));
    char block[16 << 10] __attribute__((aligned(__alignof__(struct inotify_event))));
    ssize_t n;
    bool any = false;
    while ((n = read(watch->fd, block, sizeof block)) > 0) {
        any = true;
        for (const char *at = block; at < block + n;) {
            const struct inotify_event *event = (const void *)at;
            unclosed_files_note(&watch->unclosed, event, now_ms);
            if (event->mask & IN_IGNORED) forget_folder(watch, event->wd);
            at += sizeof *event + event->len;
        }
    }
    if (any) wait_for_calm(watch);
}

int64_t script_watch_unclosed_ms(struct script_watch *watch)
{
    struct unclosed_file file;
    if (!watch) return 0;
    int64_t now_ms = clock_now_ms(loop_clock(watch->loop));
    while (unclosed_files_take_late(&watch->unclosed, now_ms, &file)) {
        char *path = xasprintf("%s/%s", folder_of(watch, file.folder), file.name);
        log_warn("Script file may be half written, its writer has not closed it for 5 s", F("file", path));
        free(path);
        free(file.name);
    }
    return unclosed_files_wait_ms(&watch->unclosed, now_ms);
}

struct script_watch *script_watch_new(struct loop *loop, int64_t settle_ms, const char *reload,
                                      void (*changed)(void *ctx), void *ctx, int *error)
{
    int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (fd < 0) {
        *error = errno;
        return NULL;
    }
    struct script_watch *watch = NEW(struct script_watch);
    *watch = (struct script_watch){.loop = loop,
                                   .fd = fd,
                                   .settle_ms = settle_ms,
                                   .reload = reload,
                                   .changed = changed,
                                   .ctx = ctx,
                                   .settle.fn = on_settled};
    ev_io_init(&watch->readable, on_readable, fd, EV_READ);
    ev_io_start(loop_ev(loop), &watch->readable);
    return watch;
}

/* Watches a directory. inotify knows it by its inode, so adding it again is harmless. */
static bool add(struct script_watch *watch, const char *folder, uint32_t events)
{
    int descriptor = inotify_add_watch(watch->fd, folder, events | IN_MASK_ADD);
    if (descriptor >= 0 && !folder_of(watch, descriptor))
        *array_add(watch->folders, watch->folder_count) =
            (struct watched_folder){descriptor, xstrdup(folder)};
    if (descriptor >= 0) return true;
    if (errno != ENOENT && errno != ENOTDIR) {
        const char *error = strerror(errno);
        char message[96];
        snprintf(message, sizeof message, "Failed to watch directory, use SIGHUP or %s after changes",
                 watch->reload);
        log_warn(message, F("directory", folder), F("err", error));
    }
    return false;
}

/* Replaces the link `at` by its target, followed by `rest`. Returns false if `at` is not a link or the result
 * is too long. */
static bool step(const char *at, const char *rest, char out[PATH_MAX])
{
    char target[PATH_MAX];
    ssize_t n = readlink(at, target, sizeof target - 1);
    if (n < 0) return false;
    target[n] = '\0';
    char *copy = xstrdup(at);
    int len = *target == '/' ? snprintf(out, PATH_MAX, "%s%s", target, rest)
                             : snprintf(out, PATH_MAX, "%s/%s%s", dirname(copy), target, rest);
    free(copy);
    return len > 0 && len < PATH_MAX;
}

/* Watches the directories of all links on the way, down to the real place: any of them may be exchanged, as
 * Kubernetes does with ..data of a mounted ConfigMap. */
static void watch_links(struct script_watch *watch, const char *path, int links)
{
    char next[PATH_MAX];
    char *at = xstrdup(path);
    for (char *end = at; end && links < LINKS_MAX;) {
        end = strchr(end + 1, '/');
        if (end) *end = '\0';
        if (step(at, end ? path + (end - at) : "", next)) {
            char *copy = xstrdup(at);
            add(watch, dirname(copy), LINK_EVENTS);
            free(copy);
            watch_links(watch, next, links + 1);
            break;
        }
        if (end) *end = '/';
    }
    free(at);
}

void script_watch_folder(struct script_watch *watch, const char *folder)
{
    char real[PATH_MAX];
    char *copy = xstrdup(folder), *parent = dirname(copy);
    if (!add(watch, folder, EVENTS)) add(watch, parent, EVENTS);
    if (realpath(folder, real)) add(watch, real, EVENTS);
    watch_links(watch, folder, 0);
    free(copy);
}

void script_watch_file(struct script_watch *watch, const char *path)
{
    char real[PATH_MAX];
    char *copy = xstrdup(path);
    script_watch_folder(watch, dirname(copy));
    free(copy);
    watch_links(watch, path, 0);
    if (realpath(path, real)) script_watch_folder(watch, dirname(real));
}

void script_watch_free(struct script_watch *watch)
{
    if (!watch) return;
    ev_io_stop(loop_ev(watch->loop), &watch->readable);
    timer_cancel(&watch->settle);
    close(watch->fd);
    unclosed_files_clear(&watch->unclosed);
    for (size_t i = 0; i < watch->folder_count; i++) free(watch->folders[i].path);
    free(watch->folders);
    free(watch);
}
