/* Saving of caches in a forked child; see cache_saver.h. */
#include "engine/warm/cache_saver.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ev.h>

#include "base/array.h"
#include "base/fork_child.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"

METRIC(metric_cache_saves, 13, "kubelua_cache_saves_total",
       "Number of times that caches were saved to disk.");
METRIC(metric_cache_save_errors, 14, "kubelua_cache_save_errors_total",
       "Number of times that caches could not be saved to disk.");

/* REST_MAX_MS: longest wait for the I/O thread to quiesce. */
enum { REST_MAX_MS = 1000, NICE = 10 };

struct cache_saver {
    struct cache_saver_options options;
    char *cluster; /* NULL: saving has not begun */
    struct timer timer;
    pid_t pid;  /* child; 0: none */
    int result; /* a pipe: the child's error */
    ev_io exit;
    int64_t begun_ms;
};

/* --- in the child: this thread alone, with the memory of the moment */

struct collector {
    const struct cache_saver *saver;
    struct stored_caches stored;
};

static bool is_secret(const struct resource *resource)
{
    return !*resource->group && strcmp(resource->plural, "secrets") == 0;
}

static void add_cache(void *ctx, const struct cache_view *view)
{
    struct collector *c = ctx;
    if (is_secret(view->resource) && !warm_start_options(c->saver->options.warm)->with_secrets) return;
    struct stored_cache *cache = array_add(c->stored.caches, c->stored.count);
    *cache = (struct stored_cache){
        .identity = xstrdup(view->identity),
        .list = {.objects = xcalloc(indexer_count(view->store) + 1, sizeof *cache->list.objects),
                 .version = xstrdup(indexer_resource_version(view->store))}};
    struct root *object;
    for (size_t at = 0; (object = indexer_next(view->store, &at));)
        cache->list.objects[cache->list.count++] = object;
}

static void add_handler(void *ctx, const char *script, const char *handler)
{
    struct collector *c = ctx;
    *array_add(c->stored.handlers, c->stored.handler_count) =
        (struct stored_handler){xstrdup(script), xstrdup(handler)};
}

static bool save(const struct cache_saver *saver, struct err *err)
{
    const struct cache_saver_options *o = &saver->options;
    struct collector c = {
        .saver = saver,
        .stored = {.cluster = saver->cluster, .saved_us = clock_wall_us(loop_clock(o->engine_loop))}};
    shared_factory_each_cache(o->factory, add_cache, &c);
    o->each_handler(o->ctx, add_handler, &c);
    return cache_file_write(warm_start_path(o->warm), &c.stored, o->pool, err);
}

static _Noreturn void run_child(const struct cache_saver *saver, pid_t parent, int result)
{
    struct err err;
    /* It must not outlive its engine: it would replace the file of the next one. */
    fork_child_setup("kubelua-save", parent, &result, 1);
    setpriority(PRIO_PROCESS, 0, NICE);
    bool ok = save(saver, &err);
    if (!ok && write(FORK_CHILD_FD, err.text, strlen(err.text)) < 0) _exit(2);
    _exit(ok ? 0 : 1);
}

/* --- in the engine */

static void note_end(struct cache_saver *saver, int status)
{
    char text[ERR_TEXT_MAX] = "";
    int64_t took_ms = clock_now_ms(loop_clock(saver->options.engine_loop)) - saver->begun_ms;
    ssize_t got = read(saver->result, text, sizeof text - 1);
    if (got >= 0) text[got] = '\0';
    bool ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    metric_inc(ok ? &metric_cache_saves : &metric_cache_save_errors);
    if (ok)
        log_v(1, "Caches saved", F("file", warm_start_path(saver->options.warm)), FI("tookMs", took_ms));
    else
        log_warn("Failed to save caches", F("err", *text ? text : "the saving process was killed"));
}

static void forget_child(struct cache_saver *saver)
{
    ev_io_stop(loop_ev(saver->options.engine_loop), &saver->exit);
    if (saver->exit.fd >= 0) close(saver->exit.fd);
    saver->exit.fd = -1;
    close(saver->result);
    saver->pid = 0;
}

static void reap(struct cache_saver *saver, int flags)
{
    int status = 0;
    if (waitpid(saver->pid, &status, flags) != saver->pid) return;
    note_end(saver, status);
    forget_child(saver);
}

static void on_exit_of(struct ev_loop *ev, ev_io *io, int events)
{
    reap(container_of(io, struct cache_saver, exit), WNOHANG);
}

static bool start_child(struct cache_saver *saver, struct err *err)
{
    int ends[2];
    pid_t parent = getpid();
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return err_set(err, ERR_IO, "%s", strerror(errno));
    /* The child has only this thread: a lock that the I/O thread holds at the fork would stay locked. */
    bool quiet = loop_quiesce(saver->options.io_loop, REST_MAX_MS);
    pid_t pid = quiet ? fork() : -1;
    if (pid == 0) run_child(saver, parent, ends[1]);
    int saved = errno;
    if (quiet) loop_let_go(saver->options.io_loop);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return err_set(err, ERR_IO, "cannot fork: %s", quiet ? strerror(saved) : "the I/O thread is busy");
    }
    saver->pid = pid;
    saver->result = ends[0];
    saver->begun_ms = clock_now_ms(loop_clock(saver->options.engine_loop));
    ev_io_init(&saver->exit, on_exit_of, pidfd_open(pid, 0), EV_READ);
    if (saver->exit.fd >= 0) ev_io_start(loop_ev(saver->options.engine_loop), &saver->exit);
    return true;
}

static void begin(struct cache_saver *saver)
{
    struct err err;
    if (saver->pid && saver->exit.fd < 0) reap(saver, WNOHANG);
    if (saver->pid || start_child(saver, &err)) return;
    metric_inc(&metric_cache_save_errors);
    log_warn("Failed to save caches", F("err", err.text));
}

static void on_timer(struct timer *timer)
{
    struct cache_saver *saver = container_of(timer, struct cache_saver, timer);
    timer_start(&saver->timer, loop_clock(saver->options.engine_loop),
                warm_start_options(saver->options.warm)->interval_ms);
    begin(saver);
}

struct cache_saver *cache_saver_new(const struct cache_saver_options *options)
{
    struct cache_saver *saver = NEW(struct cache_saver);
    saver->options = *options;
    saver->timer.fn = on_timer;
    return saver;
}

void cache_saver_begin(struct cache_saver *saver, const char *cluster)
{
    if (saver->cluster || !warm_start_path(saver->options.warm)) return;
    saver->cluster = xstrdup(cluster);
    timer_start(&saver->timer, loop_clock(saver->options.engine_loop),
                warm_start_options(saver->options.warm)->interval_ms);
}

static void wait_for_child(struct cache_saver *saver, int64_t wait_ms)
{
    struct pollfd exit = {.fd = saver->exit.fd, .events = POLLIN};
    if (!saver->pid) return;
    if (exit.fd < 0 || poll(&exit, 1, (int)wait_ms) <= 0) kill(saver->pid, SIGKILL);
    reap(saver, 0);
}

void cache_saver_finish(struct cache_saver *saver, int64_t wait_ms)
{
    struct clock *clock = loop_clock(saver->options.engine_loop);
    int64_t end_ms = clock_now_ms(clock) + wait_ms;
    if (!saver->cluster) return;
    timer_cancel(&saver->timer);
    wait_for_child(saver, wait_ms); /* one in progress has an older state */
    begin(saver);
    int64_t left_ms = end_ms - clock_now_ms(clock);
    wait_for_child(saver, left_ms > 0 ? left_ms : 0);
}

void cache_saver_free(struct cache_saver *saver)
{
    if (!saver) return;
    timer_cancel(&saver->timer);
    wait_for_child(saver, 0);
    free(saver->cluster);
    free(saver);
}
