/* Engine thread's half of sinks; see sinks.h. */
#include "engine/sink/sinks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "engine/sink/sink_allow.h"
#include "engine/sink/sink_internal.h"
#include "net/web.h"
#include "script/view/state_store.h"

FAMILY(family_events, 130, COUNTER, "kubelua_sink_events_total", "script,sink,result", NULL,
       "Number of events of sinks.");
FAMILY(family_failures, 131, COUNTER, "kubelua_sink_failures_total", "script,sink", NULL,
       "Number of deliveries of sinks that failed.");
FAMILY(family_damaged, 132, COUNTER, "kubelua_sink_spool_damaged_total", "script,sink", NULL,
       "Number of files of spools that were damaged or missing.");
FAMILY(family_spooled, 133, GAUGE, "kubelua_sink_spool_events", "script,sink", NULL,
       "Number of events that are stored and not delivered yet.");
FAMILY(family_bytes, 134, GAUGE, "kubelua_sink_spool_bytes", "script,sink", NULL,
       "Size of the spool of a sink on disk, in bytes.");

enum { LEFT_MS = 3000 }; /* for threads that deliver to end */

static struct sinks_hub *hub_of(struct sinks *sinks)
{
    return container_of(sinks, struct sinks_hub, base);
}

/* --- for the threads, too */

void sink_wait(struct sink *sink, int64_t ms)
{
    clock_wait(&sink->changed, &sink->lock, ms);
}

void sink_count(struct sink *sink, enum sink_counter counter, uint64_t count)
{
    series_add(sink->counters[counter], (double)count);
}

void sink_show_spool(struct sink *sink)
{
    atomic_store(&sink->spool_events, spool_count(sink->spool));
    atomic_store(&sink->spool_used, spool_bytes(sink->spool));
    series_set(sink->events, (double)spool_count(sink->spool));
    series_set(sink->bytes, (double)spool_bytes(sink->spool));
}

/* --- life */

static void open_series(struct sink *sink)
{
    static const char *const results[] = {[SINK_PUBLISHED] = "published",
                                          [SINK_SENT] = "delivered",
                                          [SINK_SET_ASIDE] = "refused",
                                          [SINK_LOST] = "lost"};
    for (size_t i = 0; i < SINK_COUNTERS; i++)
        sink->counters[i] = SERIES(&family_events, sink->script, sink->name, results[i]);
    sink->failures = SERIES(&family_failures, sink->script, sink->name);
    sink->damaged = SERIES(&family_damaged, sink->script, sink->name);
    sink->events = SERIES(&family_spooled, sink->script, sink->name);
    sink->bytes = SERIES(&family_bytes, sink->script, sink->name);
}

static struct sink *find(struct sinks_hub *hub, const char *script, const char *name)
{
    struct sink *sink;
    LIST_FOREACH (sink, &hub->sinks, link)
        if (strcmp(sink->script, script) == 0 && strcmp(sink->name, name) == 0) return sink;
    return NULL;
}

/* DIR/SCRIPT/NAME.spool, beside the states of the script. */
static char *make_dir(const struct sinks_hub *hub, const struct sink_config *config, struct err *err)
{
    char place[STATE_PLACE_MAX + 1];
    state_place_of(config->script, place);
    char *parent = xasprintf("%s/%s", hub->options.dir, place);
    char *dir = xasprintf("%s/%s.spool", parent, config->name);
    if (mkdir(parent, 0700) != 0 && errno != EEXIST) {
        err_set(err, ERR_IO, "cannot make the directory %s: %s", parent, strerror(errno));
        free(dir);
        dir = NULL;
    }
    free(parent);
    return dir;
}

static void init_locks(struct sink *sink)
{
    pthread_cond_init(&sink->changed, NULL);
    pthread_mutex_init(&sink->lock, NULL);
    pthread_mutex_init(&sink->disk, NULL);
}

static struct sink *make(struct sinks_hub *hub, const struct sink_config *config, struct err *err)
{
    char *dir = make_dir(hub, config, err);
    if (!dir) return NULL;
    struct sink *sink = NEW(struct sink);
    sink->hub = hub;
    sink->dir = dir;
    sink->script = xstrdup(config->script);
    sink->name = xstrdup(config->name);
    init_locks(sink);
    TAILQ_INIT(&sink->waiting);
    TAILQ_INIT(&sink->stored);
    open_series(sink);
    LIST_INSERT_HEAD(&hub->sinks, sink, link);
    return sink;
}

static bool is_allowed(const struct sinks_hub *hub, const char *to, struct sink_target *target,
                       struct err *err)
{
    const struct sinks_options *options = &hub->options;
    if (!sink_target_read(to, target, err)) return false;
    if (sink_scheme_is_http(target->scheme)) return web_allows(web_allowed(options->web), to, err);
    if (!sink_allows(options->allowed, options->allowed_count, target, options->allow_name, err))
        return false;
    return target->scheme == SINK_FILE || sink_stream_check(target->scheme, err);
}

static struct sink *claim(struct sinks *sinks, const struct sink_config *config, struct err *err)
{
    struct sinks_hub *hub = hub_of(sinks);
    struct sink_target target;
    if (!is_allowed(hub, config->to, &target, err)) return NULL;
    struct sink *sink = find(hub, config->script, config->name);
    if (!sink) sink = make(hub, config, err);
    if (sink) sink->claims++;
    return sink;
}

/* Events that are stored are delivered, whether a script still has the sink or not. */
static void release(struct sink *sink)
{
    sink->claims--;
}

/* Stores events from now on. */
static void begin(struct sink *sink, const struct sink_config *config)
{
    struct sink_target target;
    struct err err;
    if (sink_target_read(config->to, &target, &err)) sink->scheme = target.scheme;
    sink->spool_max = config->spool_bytes;
    if (sink->has_threads) return;
    sink->has_threads = true;
    must(pthread_create(&sink->writer, NULL, sink_writer_run, sink) == 0);
    module_thread_start(&sink->sender, sink_sender_run, sink);
}

static void set_reason(struct sink *sink, const char *reason)
{
    free(sink->hold_reason);
    sink->hold_reason = reason ? xstrdup(reason) : NULL;
}

static void use(struct sink *sink, const struct sink_config *config)
{
    pthread_mutex_lock(&sink->lock);
    if (!sink->is_used) {
        sink->fails = false;
        sink->error[0] = '\0';
    }
    sink_settings_free(sink->next);
    sink->next = sink_settings_copy(config);
    pthread_cond_broadcast(&sink->changed);
    pthread_mutex_unlock(&sink->lock);
    sink->is_used = true;
    set_reason(sink, NULL);
    begin(sink, config);
}

/* Each reason is logged once, until they can be read again. */
static void hold(struct sink *sink, const struct sink_config *config, const char *reason)
{
    begin(sink, config);
    if (!reason || (sink->hold_reason && strcmp(sink->hold_reason, reason) == 0)) return;
    set_reason(sink, reason);
    log_warn(sink->is_used ? "The login of a sink cannot be read, the last one stays"
                           : "Events wait as a login cannot be read, retrying",
             F("script", sink->script), F("sink", sink->name), F("err", reason));
    if (sink->is_used) return;
    pthread_mutex_lock(&sink->lock);
    sink->fails = true;
    snprintf(sink->error, sizeof sink->error, "%s", reason);
    pthread_mutex_unlock(&sink->lock);
}

static void confirm(struct sink *sink)
{
    if (!sink->hold_reason) return;
    log_info("The login of a sink can be read again", F("script", sink->script), F("sink", sink->name));
    set_reason(sink, NULL);
}

static void on_wake(void *ctx)
{
    struct sinks_hub *hub = ctx;
    struct sink *sink;
    LIST_FOREACH (sink, &hub->sinks, link) sink_end_stored(sink);
}

/* With the lock. Deliveries may fail as the login that is in use is no more the one of the Secret. */
static void put_error(const struct sink *sink, char *out, size_t size)
{
    const char *error = sink->disk_error[0] ? sink->disk_error : sink->error;
    if (sink->is_used && sink->hold_reason)
        snprintf(out, size, "%s%sthe login cannot be read, the last one stays: %s", error, *error ? "; " : "",
                 sink->hold_reason);
    else
        snprintf(out, size, "%s", error);
}

static void get_status(struct sink *sink, struct sink_status *status)
{
    *status = (struct sink_status){.name = sink->name,
                                   .scheme = sink_scheme_name(sink->scheme),
                                   .events = atomic_load(&sink->spool_events),
                                   .bytes = atomic_load(&sink->spool_used)};
    pthread_mutex_lock(&sink->lock);
    status->waiting = sink->waiting_count;
    put_error(sink, status->error, sizeof status->error);
    pthread_mutex_unlock(&sink->lock);
}

/* --- the hub */

struct sinks *sinks_new(const struct sinks_options *options)
{
    struct sinks_hub *hub = NEW(struct sinks_hub);
    hub->options = *options;
    hub->options.dir = xstrdup(options->dir);
    hub->base = (struct sinks){.claim = claim,
                               .release = release,
                               .use = use,
                               .hold = hold,
                               .confirm = confirm,
                               .publish = sink_publish_start,
                               .cancel = sink_publish_cancel,
                               .status = get_status};
    must(getrandom(&hub->base.incarnation, sizeof hub->base.incarnation, 0) == sizeof hub->base.incarnation);
    LIST_INIT(&hub->sinks);
    hub->waker = waker_new(options->loop, on_wake, hub);
    return &hub->base;
}

size_t sinks_flush(struct sinks *sinks)
{
    struct sink *sink;
    size_t count = 0;
    if (!sinks) return 0;
    LIST_FOREACH (sink, &hub_of(sinks)->sinks, link) {
        pthread_mutex_lock(&sink->lock);
        count += sink->waiting_count > 0 ||
                 (atomic_load(&sink->spool_events) > 0 && sink->is_used && !sink->fails);
        pthread_mutex_unlock(&sink->lock);
    }
    return count;
}

static void tell_end(struct sink *sink)
{
    pthread_mutex_lock(&sink->lock);
    sink->ends = true;
    sink->stream_ends = 1;
    pthread_cond_broadcast(&sink->changed);
    pthread_mutex_unlock(&sink->lock);
}

static void join_threads(struct sink *sink, int64_t until_ms)
{
    if (!sink->has_threads) return;
    pthread_join(sink->writer, NULL);
    sink->is_left = !module_thread_join(&sink->sender, until_ms);
    if (sink->is_left)
        log_warn("The target of a sink does not answer, ending without it", F("script", sink->script),
                 F("sink", sink->name));
    sink_http_end(sink);
    uint64_t left = atomic_load(&sink->spool_events);
    if (left > 0)
        log_warn("Events stay in the spool until the next start", F("script", sink->script),
                 F("sink", sink->name), FI("events", left), F("dir", sink->dir));
}

static void free_all(struct sink_publishes *list)
{
    struct sink_publish *publish;
    while ((publish = TAILQ_FIRST(list))) {
        TAILQ_REMOVE(list, publish, link);
        sink_publish_free(publish);
    }
}

static void free_sink(struct sink *sink)
{
    LIST_REMOVE(sink, link);
    free_all(&sink->waiting);
    free_all(&sink->stored);
    spool_free(sink->spool);
    sink_settings_free(sink->next);
    for (size_t i = 0; i < SINK_COUNTERS; i++) series_free(sink->counters[i]);
    series_free(sink->failures);
    series_free(sink->damaged);
    series_free(sink->events);
    series_free(sink->bytes);
    pthread_cond_destroy(&sink->changed);
    pthread_mutex_destroy(&sink->lock);
    pthread_mutex_destroy(&sink->disk);
    free(sink->script);
    free(sink->name);
    free(sink->dir);
    free(sink->hold_reason);
    /* Its module looks whether it ends. */
    if (!sink->is_left) free(sink);
}

void sinks_free(struct sinks *sinks)
{
    struct sink *sink;
    if (!sinks) return;
    struct sinks_hub *hub = hub_of(sinks);
    LIST_FOREACH (sink, &hub->sinks, link) tell_end(sink);
    int64_t until_ms = clock_now_ms(clock_real()) + LEFT_MS;
    LIST_FOREACH (sink, &hub->sinks, link) join_threads(sink, until_ms);
    while ((sink = LIST_FIRST(&hub->sinks))) free_sink(sink);
    waker_free(hub->waker);
    free((char *)hub->options.dir);
    free(hub);
}
