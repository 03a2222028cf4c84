/* From deltas to the store and the handlers; see shared_informer.h. */
#include "informer/shared_informer.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/series.h"
#include "informer/handler_list.h"
#include "informer/mirrors.h"
#include "informer/unchanged.h"

/* */
enum { SLOW_DEPTH = 10, SLOW_MS = 100 };

struct shared_informer {
    char *name;
    struct delta_fifo *fifo;
    struct indexer *store;
    struct transform transform;
    struct mirrors mirrors;
    struct handler_list handlers;
    struct version_waits waits;
    struct clock *clock;
    struct series *latency;
    bool processing;
    void (*on_synced)(void *ctx);
    void *synced_ctx;
    void (*ready)(void *ctx);
    void *ready_ctx;
};

/* On the producer's thread. */
static void on_fifo_ready(void *ctx)
{
    struct shared_informer *informer = ctx;
    if (informer->ready) informer->ready(informer->ready_ctx);
}

struct shared_informer *shared_informer_new(const char *name, void (*on_synced)(void *ctx), void *ctx)
{
    struct shared_informer *informer = NEW(struct shared_informer);
    informer->name = xstrdup(name);
    informer->fifo = delta_fifo_new(on_fifo_ready, informer);
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

/* --- deltas
 * ----------------------------------------------------------------------------------------------------- */

static void tell(struct shared_informer *informer, enum handler_call call, struct root *before,
                 struct root *object, const struct event_info *info)
{
    handler_list_tell(&informer->handlers,
                      &(struct change){.call = call, .before = before, .object = object, .info = *info});
}

/* what counts is whether the store knows the key, not what the server called the event. */
static void deliver_object(struct shared_informer *informer, struct root *before, struct root *object,
                           const struct event_info *info)
{
    enum handler_call call = HANDLER_ADD;
    if (before) call = is_unchanged(before, object) ? HANDLER_UNCHANGED : HANDLER_UPDATE;
    tell(informer, call, before, object, info);
}

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
    deliver_object(informer, before, delta->object, info);
    root_unref(before);
}

/* Handlers are told also when the store never had the key, unless its add was compressed away. */
static void process_delete(struct shared_informer *informer, const struct delta *delta,
                           const struct event_info *info)
{
    struct root *before = indexer_remove(informer->store, delta->object);
    mirrors_delete(&informer->mirrors, delta->object);
    if (before || !delta->born) tell(informer, HANDLER_DELETE, before, delta->object, info);
    root_unref(before);
}

/* Deletes that nobody saw, sorted by key (Q-7, Q-9, B-9), each with its last known object and a flag (Q-8,
 * B-5).
 */
static void deliver_vanished(struct shared_informer *informer, const struct replacement *replaced,
                             const struct event_info *info)
{
    struct event_info unknown = *info;
    unknown.initial = false;
    unknown.final_state_unknown = true;
    for (size_t i = 0; i < replaced->vanished_count; i++)
        tell(informer, HANDLER_DELETE, replaced->vanished[i], replaced->vanished[i], &unknown);
}

/* What the store has of objects that the list has too, but that were refused: unchanged, as far as anybody
 * can know. */
static void keep_refused(const struct delta_refused *refused, struct indexer *store,
                         struct replacement *replaced)
{
    const char *at = refused->keys.data, *end = at + refused->keys.len;
    while (at < end) {
        struct str ns = str_of(at), name = str_of(ns.p + ns.n + 1);
        replacement_keep(replaced, store, ns, name);
        at = name.p + name.n + 1;
    }
}

/* Q-7, V7: the store first, then the deletes, then the items in list order against what was there before. */
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
    deliver_vanished(informer, &replaced, info);
    for (size_t i = 0; i < delta->count; i++)
        deliver_object(informer, replaced.before[i], delta->objects[i], info);
    replacement_clear(&replaced);
}

struct resync {
    struct shared_informer *informer;
    struct event_info info;
};

static bool resync_object(void *ctx, struct root *object)
{
    struct resync *resync = ctx;
    tell(resync->informer, HANDLER_RESYNC, object, object, &resync->info);
    return true;
}

/* Q-10, I-17: the server is not asked and nothing is compared. Handlers are told whose period is over (I-16).
 */
static void process_resync(struct shared_informer *informer, const struct delta *delta,
                           const struct event_info *info)
{
    if (!handler_list_pick_due(&informer->handlers, delta->tick_ms)) return;
    struct resync resync = {informer, *info};
    resync.info.resync = true;
    resync.info.received_us = 0;
    indexer_each(informer->store, resync_object, &resync);
}

/* Q-15 (BEAT): what is told is what the store has, and nothing of the deltas behind it. */
static void dispatch(struct shared_informer *informer, const struct delta *delta)
{
    const struct event_info info = {
        .initial = delta->initial, .coalesced = delta->coalesced, .received_us = delta->received_us};
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

static void process_one(struct shared_informer *informer, struct delta *delta)
{
    const struct transform *transform = &informer->transform;
    handler_list_next_turn(&informer->handlers);
    if (delta->object) note_version(informer, delta);
    if (!transform->fn || transform_delta(transform, informer->store, delta)) dispatch(informer, delta);
    version_waits_tell(&informer->waits, str_of(indexer_resource_version(informer->store)));
}

/* I-22. `*mark_ns` is when the one before was done: one look at the clock for each. */
static void process_measured(struct shared_informer *informer, struct delta *delta, int64_t *mark_ns)
{
    process_one(informer, delta);
    if (!informer->latency) return;
    int64_t now_ns = clock_measure_ns();
    series_observe(informer->latency, (double)(now_ns - *mark_ns) / 1e9);
    *mark_ns = now_ns;
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
                       size_t waiting)
{
    static const char *const names[] = {"Added", "Updated", "Deleted", "ReplacedAll", "SyncAll", "Bookmark"};
    struct buf key = {0};
    if (took_ms < SLOW_MS) return;
    if (delta->object) root_key(delta->object, &key);
    log_v(2, "Slow processing", F("informer", informer->name), F("delta", names[delta->type]),
          FS("key", buf_slice(&key)), FI("objects", delta->count), FI("tookMs", took_ms),
          FI("queued", waiting));
    buf_clear(&key);
}

static void process_timed(struct shared_informer *informer, struct delta *batch, size_t count, size_t depth)
{
    int64_t begun_ms = clock_now_ms(informer->clock), mark_ns = clock_measure_ns();
    for (size_t i = 0; i < count; i++) {
        process_measured(informer, &batch[i], &mark_ns);
        int64_t now_ms = clock_now_ms(informer->clock);
        trace_slow(informer, &batch[i], now_ms - begun_ms, depth - i - 1);
        begun_ms = now_ms;
    }
}

static size_t process_batch(struct shared_informer *informer, size_t max)
{
    struct delta *batch;
    size_t count = delta_fifo_take(informer->fifo, max, &batch);
    size_t depth = count + delta_fifo_len(informer->fifo);
    int64_t mark_ns = informer->latency ? clock_measure_ns() : 0;
    if (depth > SLOW_DEPTH && log_verbosity() >= 2)
        process_timed(informer, batch, count, depth);
    else
        for (size_t i = 0; i < count; i++) process_measured(informer, &batch[i], &mark_ns);
    delta_fifo_release(informer->fifo, batch, count);
    note_synced(informer);
    return count;
}

size_t shared_informer_process(struct shared_informer *informer, size_t max)
{
    size_t done = 0, count;
    must(!informer->processing);
    informer->processing = true;
    while (done < max && (count = process_batch(informer, max - done)) > 0) done += count;
    informer->processing = false;
    return done;
}

/* --- handlers and what may be asked
 * ------------------------------------------------------------------------------ */

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
}

void shared_informer_remove_handler(struct shared_informer *informer, struct registration *registration)
{
    handler_list_remove(&informer->handlers, registration);
    delta_fifo_set_resync(informer->fifo, handler_list_resync_ms(&informer->handlers));
}

struct version_wait *shared_informer_wait_version(struct shared_informer *informer, struct str version,
                                                  void (*reached)(void *ctx), void *ctx, struct err *err)
{
    return version_waits_add(&informer->waits, version, reached, ctx, err);
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
