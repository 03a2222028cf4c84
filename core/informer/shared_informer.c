/* From deltas to the store and the handlers; see shared_informer.h. */
#include "informer/shared_informer.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/series.h"
#include "informer/cursor.h"
#include "informer/handler_list.h"
#include "informer/mirrors.h"

/* */
enum { SLOW_DEPTH = 10, SLOW_MS = 100 };

struct shared_informer {
    char *name;
    struct delta_fifo *fifo;
    struct indexer *store;
    struct transform transform;
    struct mirrors mirrors;
    struct handler_list handlers;
    struct delta *batch; /* that is being processed, up to `batch_at` done */
    size_t batch_count, batch_at;
    /* Of the delta at `batch_at`: of a list, before it takes effect; and when it takes many calls. */
    struct transform_progress transforming;
    struct cursor cursor;
    int64_t spent_ms; /* on that delta so far; measured only when it may be said */
    int64_t spent_ns,
        mark_ns; /* for the histogram: on that delta so far, and when the step before was done */
    struct version_waits waits;
    struct clock *clock;
    struct series *latency;
    bool processing;
    bool showing; /* handlers came that are to be shown the store */
    void (*on_synced)(void *ctx);
    void *synced_ctx;
    void (*ready)(void *ctx), (*shown)(void *ctx);
    void *ready_ctx, *shown_ctx;
};

/* On the producer's thread, or by whoever adds a handler. */
static void on_ready(void *ctx)
{
    struct shared_informer *informer = ctx;
    if (informer->ready) informer->ready(informer->ready_ctx);
}

struct shared_informer *shared_informer_new(const char *name, void (*on_synced)(void *ctx), void *ctx)
{
    struct shared_informer *informer = NEW(struct shared_informer);
    informer->name = xstrdup(name);
    informer->fifo = delta_fifo_new(on_ready, informer);
    informer->store = indexer_new();
    version_waits_init(&informer->waits);
    informer->clock = clock_real();
    informer->on_synced = on_synced;
    informer->synced_ctx = ctx;
    return informer;
}

void shared_informer_free(struct shared_informer *informer)
{
    if (!informer) return;
    must(!informer->processing);
    cursor_clear(&informer->cursor);
    delta_fifo_release(informer->fifo, informer->batch, informer->batch_count);
    handler_list_clear(&informer->handlers);
    mirrors_clear(&informer->mirrors);
    version_waits_clear(&informer->waits);
    delta_fifo_free(informer->fifo);
    indexer_free(informer->store);
    free(informer->name);
    free(informer);
}

void shared_informer_set_ready(struct shared_informer *informer, void (*ready)(void *ctx), void *ctx)
{
    informer->ready = ready;
    informer->ready_ctx = ctx;
}

void shared_informer_set_shown(struct shared_informer *informer, void (*shown)(void *ctx), void *ctx)
{
    informer->shown = shown;
    informer->shown_ctx = ctx;
}

void shared_informer_set_transform(struct shared_informer *informer, const struct transform *transform)
{
    informer->transform = *transform;
}

void shared_informer_set_latency(struct shared_informer *informer, struct series *latency)
{
    informer->latency = latency;
}

void shared_informer_set_clock(struct shared_informer *informer, struct clock *clock)
{
    informer->clock = clock;
}

/* --- deltas */

/* S-10. Of a delta that stands for several the queue tells the version when all before it has been told. */
static void note_version(struct shared_informer *informer, const struct delta *delta)
{
    struct text text;
    if (delta->coalesced) return;
    struct str version = root_resource_version(delta->object, &text);
    if (version.n) indexer_set_resource_version(informer->store, version);
}

static void process_put(struct shared_informer *informer, const struct delta *delta,
                        const struct event_info *info)
{
    struct root *before = indexer_put(informer->store, root_ref(delta->object));
    mirrors_put(&informer->mirrors, delta->object);
    const struct change change = change_of_put(before, delta->object, info);
    handler_list_tell(&informer->handlers, &change);
    root_unref(before);
}

/* Handlers are told also when the store never had the key, unless its add was compressed away. */
static void process_delete(struct shared_informer *informer, const struct delta *delta,
                           const struct event_info *info)
{
    struct root *before = indexer_remove(informer->store, delta->object);
    mirrors_delete(&informer->mirrors, delta->object);
    const struct change change = {HANDLER_DELETE, before, delta->object, *info};
    if (before || !delta->born) handler_list_tell(&informer->handlers, &change);
    root_unref(before);
}

/* What the store has of objects that the list has too, but that were refused: unchanged, as far as anybody
 * can know. */
static void keep_refused(const struct delta_refused *refused, struct indexer *store,
                         struct replacement *replaced)
{
    struct str rest = buf_slice(&refused->keys), ns, name;
    while (refused_next(&rest, &ns, &name)) replacement_keep(replaced, store, ns, name);
}

/* Q-7, V7: the store first; the handlers follow. */
static void process_replace(struct shared_informer *informer, const struct delta *delta,
                            const struct event_info *info)
{
    struct replacement replaced;
    struct indexer *store = informer->store;
    replacement_begin(&replaced, store, delta->count);
    for (size_t i = 0; i < delta->count; i++) replacement_put(&replaced, store, root_ref(delta->objects[i]));
    if (delta->refused) keep_refused(delta->refused, store, &replaced);
    replacement_end(&replaced, store, delta->refused && delta->refused->unknown);
    indexer_set_resource_version(store, str_of(delta->resource_version));
    mirrors_replace(&informer->mirrors, &replaced, delta->objects);
    cursor_open_list(&informer->cursor, &replaced, delta->objects, info);
}

/* Q-10, I-17: the server is not asked and nothing is compared. Handlers are told whose period is over (I-16).
 */
static void process_resync(struct shared_informer *informer, const struct delta *delta,
                           const struct event_info *info)
{
    if (handler_list_pick_due(&informer->handlers, delta->tick_ms))
        cursor_open_resync(&informer->cursor, informer->store, info);
}

/* Q-15 (BEAT): what is told is what the store has, and nothing of the deltas behind it. */
static void dispatch(struct shared_informer *informer, const struct delta *delta)
{
    const struct event_info info = {
        .initial = delta->initial, .coalesced = delta->coalesced, .received_us = delta->received_us};
    handler_list_next_turn(&informer->handlers);
    switch (delta->type) {
    case DELTA_ADDED:
    case DELTA_UPDATED: process_put(informer, delta, &info); break;
    case DELTA_DELETED: process_delete(informer, delta, &info); break;
    case DELTA_REPLACED_ALL: process_replace(informer, delta, &info); break;
    case DELTA_SYNC_ALL: process_resync(informer, delta, &info); break;
    case DELTA_BOOKMARK:
        indexer_set_resource_version(informer->store, str_of(delta->resource_version));
        break;
    }
}

static void begin_delta(struct shared_informer *informer, struct delta *delta)
{
    const struct transform *transform = &informer->transform;
    if (delta->object) note_version(informer, delta);
    if (transform->fn && delta->type == DELTA_REPLACED_ALL)
        informer->transforming.open = true;
    else if (!transform->fn || transform_delta(transform, informer->store, delta))
        dispatch(informer, delta);
}

/* Whoever comes while a list is transformed is shown the store as it is, and then hears of the list. */
static size_t transform_some(struct shared_informer *informer, struct delta *delta, size_t max)
{
    size_t done = transform_list(&informer->transform, informer->store, delta, &informer->transforming, max);
    if (!informer->transforming.open) dispatch(informer, delta);
    return done;
}

/* once, when the first list was processed and every handler told. */
static void note_synced(struct shared_informer *informer)
{
    if (informer->handlers.synced || !delta_fifo_has_synced(informer->fifo)) return;
    informer->handlers.synced = true;
    if (informer->on_synced) informer->on_synced(informer->synced_ctx);
}

/* Q-21, I-12: what takes long while others wait is said, and how many wait. */
static void trace_slow(const struct shared_informer *informer, const struct delta *delta, int64_t took_ms,
                       size_t queued)
{
    static const char *const names[] = {"Added", "Updated", "Deleted", "ReplacedAll", "SyncAll", "Bookmark"};
    struct buf key = {0};
    if (delta->object) root_key(delta->object, &key);
    log_v(2, "Slow processing", F("informer", informer->name), F("delta", names[delta->type]),
          FS("key", buf_slice(&key)), FI("objects", delta->count), FI("tookMs", took_ms),
          FI("queued", queued));
    buf_clear(&key);
}

static size_t waiting(const struct shared_informer *informer)
{
    return informer->batch_count - informer->batch_at + delta_fifo_len(informer->fifo);
}

static void end_delta(struct shared_informer *informer)
{
    const struct delta *delta = &informer->batch[informer->batch_at++];
    version_waits_tell(&informer->waits, str_of(indexer_resource_version(informer->store)));
    if (informer->spent_ms >= SLOW_MS) trace_slow(informer, delta, informer->spent_ms, waiting(informer));
    if (informer->latency) series_observe(informer->latency, (double)informer->spent_ns / 1e9); /* I-22 */
    informer->spent_ms = informer->spent_ns = 0;
    if (informer->batch_at < informer->batch_count) return;
    delta_fifo_release(informer->fifo, informer->batch, informer->batch_count);
    informer->batch_count = informer->batch_at = 0;
    note_synced(informer);
}

/* More of the delta at `batch_at` is to be done. */
static bool is_begun(const struct shared_informer *informer)
{
    return informer->transforming.open || informer->cursor.open;
}

/* Of the delta that is the next, or one that was begun. */
static size_t work_on(struct shared_informer *informer, size_t max)
{
    struct delta *delta = &informer->batch[informer->batch_at];
    size_t done = 0;
    if (!is_begun(informer)) begin_delta(informer, delta);
    if (informer->transforming.open)
        done = transform_some(informer, delta, max);
    else if (informer->cursor.open)
        done = cursor_run(&informer->cursor, &informer->handlers, max);
    return done ? done : 1;
}

/* Before any other step: nothing may change what they are shown. */
static size_t show_some(struct shared_informer *informer, size_t max)
{
    size_t done = handler_list_show(&informer->handlers, informer->store, max);
    informer->showing = handler_list_is_showing(&informer->handlers);
    if (!informer->showing && informer->shown) informer->shown(informer->shown_ctx);
    if (informer->latency) informer->mark_ns = clock_measure_ns();
    return done ? done : 1;
}

/* One look at the clock for each step. */
static void measure(struct shared_informer *informer)
{
    int64_t now_ns = clock_measure_ns();
    informer->spent_ns += now_ns - informer->mark_ns;
    informer->mark_ns = now_ns;
}

static size_t process_step(struct shared_informer *informer, size_t max)
{
    if (informer->showing) return show_some(informer, max);
    if (informer->batch_count == 0)
        informer->batch_count = delta_fifo_take(informer->fifo, max, &informer->batch);
    if (informer->batch_count == 0) return 0;
    bool timed = log_verbosity() >= 2 && waiting(informer) > SLOW_DEPTH;
    int64_t begun_ms = timed ? clock_now_ms(informer->clock) : 0;
    size_t done = work_on(informer, max);
    if (timed) informer->spent_ms += clock_now_ms(informer->clock) - begun_ms;
    if (informer->latency) measure(informer);
    if (!is_begun(informer)) end_delta(informer);
    return done;
}

size_t shared_informer_process(struct shared_informer *informer, size_t max)
{
    size_t done = 0, count;
    must(!informer->processing);
    informer->processing = true;
    if (informer->latency) informer->mark_ns = clock_measure_ns();
    while (done < max && (count = process_step(informer, max - done)) > 0) done += count;
    informer->processing = false;
    return done;
}

void shared_informer_finish_delta(struct shared_informer *informer)
{
    must(!informer->processing);
    informer->processing = true;
    if (informer->latency) informer->mark_ns = clock_measure_ns();
    while (informer->showing || informer->cursor.open) process_step(informer, SIZE_MAX);
    informer->processing = false;
}

bool shared_informer_has_work(const struct shared_informer *informer)
{
    return informer->showing || informer->batch_count > 0 || delta_fifo_len(informer->fifo) > 0;
}

/* --- handlers and what may be asked */

/* I-15: the check period is the shortest that a handler wants. It follows them at any time, so that nothing
 * depends on who of the scripts was first; client-go raises the period of those that come late. */
static void prepare_resync(struct shared_informer *informer, int64_t period_ms)
{
    int64_t shortest_ms = handler_list_resync_ms(&informer->handlers);
    if (period_ms == RESYNC_NEVER || (shortest_ms != RESYNC_NEVER && shortest_ms <= period_ms)) return;
    delta_fifo_set_resync(informer->fifo, period_ms);
}

void shared_informer_add_handler(struct shared_informer *informer, const struct event_handler *handler,
                                 struct registration **registration)
{
    if (handler->options) prepare_resync(informer, handler->options->resync_ms);
    handler_list_add(&informer->handlers, handler, clock_now_ms(informer->clock), informer->store,
                     registration);
    if (informer->showing || !handler_list_is_showing(&informer->handlers)) return;
    informer->showing = true;
    on_ready(informer);
}

void shared_informer_remove_handler(struct shared_informer *informer, struct registration *registration)
{
    handler_list_remove(&informer->handlers, registration);
    delta_fifo_set_resync(informer->fifo, handler_list_resync_ms(&informer->handlers));
}

struct version_waits *shared_informer_waits(struct shared_informer *informer)
{
    return &informer->waits;
}

bool shared_informer_has_synced(const struct shared_informer *informer)
{
    return delta_fifo_has_synced(informer->fifo);
}

struct indexer *shared_informer_indexer(struct shared_informer *informer)
{
    return informer->store;
}

void shared_informer_add_mirror(struct shared_informer *informer, struct indexer *store)
{
    mirrors_add(&informer->mirrors, store, informer->store);
}

void shared_informer_remove_mirror(struct shared_informer *informer, struct indexer *store)
{
    mirrors_remove(&informer->mirrors, store);
}

struct delta_fifo *shared_informer_fifo(struct shared_informer *informer)
{
    return informer->fifo;
}

const char *shared_informer_name(const struct shared_informer *informer)
{
    return informer->name;
}
