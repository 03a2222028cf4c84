/* Processing of deltas from the queue to the store and the handlers; see shared_informer.h. */
#include "informer/shared/shared_informer.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/series/series.h"
#include "informer/shared/applier.h"

/* Processing is traced if it takes SLOW_MS while more than SLOW_DEPTH deltas wait. */
enum { SLOW_DEPTH = 10, SLOW_MS = 100 };

struct shared_informer {
    char *name;
    struct delta_fifo *fifo;
    struct applier applier;
    struct delta *batch; /* in progress; deltas before `batch_at` are done */
    size_t batch_count, batch_at;
    int64_t spent_ms;          /* on that delta so far; measured only if it may be traced */
    int64_t spent_ns, mark_ns; /* for the histogram: on that delta so far, and the end of the previous step */
    struct version_waits waits;
    struct clock *clock;
    struct series *latency;
    bool processing;
    size_t owed; /* objects by which initial deliveries are ahead of deltas; later handlers wait until it is 0
                    (I-5) */
    void (*on_synced)(void *ctx);
    void *synced_ctx;
    void (*ready)(void *ctx), (*shown)(void *ctx);
    void *ready_ctx, *shown_ctx;
};

/* Called on the producer's thread, and by callers that add a handler. */
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
    applier_init(&informer->applier);
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
    delta_fifo_release(informer->fifo, informer->batch, informer->batch_count);
    applier_clear(&informer->applier);
    version_waits_clear(&informer->waits);
    delta_fifo_free(informer->fifo);
    free(informer->name);
    free(informer);
}

void shared_informer_set_ready(struct shared_informer *informer, void (*ready)(void *ctx), void *ctx)
{
    informer->ready = ready;
    informer->ready_ctx = ctx;
}

void shared_informer_set_initial_done(struct shared_informer *informer, void (*shown)(void *ctx), void *ctx)
{
    informer->shown = shown;
    informer->shown_ctx = ctx;
}

void shared_informer_set_transform(struct shared_informer *informer, const struct transform *transform)
{
    informer->applier.transform = *transform;
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

/* Marks the cache as synced, once, when the first list was processed and every handler notified.
 */
static void note_synced(struct shared_informer *informer)
{
    if (informer->applier.handlers.synced || !delta_fifo_has_synced(informer->fifo)) return;
    informer->applier.handlers.synced = true;
    if (informer->on_synced) informer->on_synced(informer->synced_ctx);
}

/* Logs processing that took long while other deltas wait, and how many (Q-21, I-12). */
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
    /* After the last handler, not when the store changed: a script that waits for its own write expects that
     * its handlers know it (B-10). */
    version_waits_notify(&informer->waits, str_of(indexer_resource_version(informer->applier.store)));
    if (informer->spent_ms >= SLOW_MS) trace_slow(informer, delta, informer->spent_ms, waiting(informer));
    if (informer->latency) series_observe(informer->latency, (double)informer->spent_ns / 1e9); /* I-22 */
    informer->spent_ms = informer->spent_ns = 0;
    if (informer->batch_at < informer->batch_count) return;
    delta_fifo_release(informer->fifo, informer->batch, informer->batch_count);
    informer->batch_count = informer->batch_at = 0;
    note_synced(informer);
}

/* Together they have taken what is to be told of each. */
static void end_deltas(struct shared_informer *informer, size_t count)
{
    int64_t each_ns = informer->spent_ns / (int64_t)count;
    for (size_t i = 0; i < count; i++) {
        informer->spent_ns = each_ns;
        end_delta(informer);
    }
}

static size_t show_some(struct shared_informer *informer, size_t max)
{
    struct handler_list *handlers = &informer->applier.handlers;
    size_t done = handler_list_deliver_initial(handlers, informer->applier.store, max);
    if (!done) done = 1;
    informer->owed += done;
    if (!handlers->delivering_initial && informer->shown) informer->shown(informer->shown_ctx);
    if (informer->latency) informer->mark_ns = clock_measure_ns();
    return done;
}

/* Adds the time since the last step, with one read of the clock for each step. */
static void measure(struct shared_informer *informer)
{
    int64_t now_ns = clock_measure_ns();
    informer->spent_ns += now_ns - informer->mark_ns;
    informer->mark_ns = now_ns;
}

/* Deltas wait until it is known who owns the slots. */
static bool is_in_doubt(const struct shared_informer *informer)
{
    const struct applier *applier = &informer->applier;
    return applier->ranges && applier->ranges->in_doubt && !applier_has_begun(applier);
}

static size_t apply_some(struct shared_informer *informer, size_t max)
{
    if (is_in_doubt(informer)) {
        informer->owed = 0;
        return 0;
    }
    if (informer->batch_count == 0)
        informer->batch_count =
            delta_fifo_take(informer->fifo, applier_batch(&informer->applier, max), &informer->batch);
    if (informer->batch_count == 0) {
        informer->owed = 0;
        return 0;
    }
    /* Two reads of the clock for each delta are too much when nothing is logged. */
    bool timed = log_verbosity() >= 2 && waiting(informer) > SLOW_DEPTH;
    int64_t begun_ms = timed ? clock_now_ms(informer->clock) : 0;
    struct delta *next = &informer->batch[informer->batch_at];
    size_t left = informer->batch_count - informer->batch_at;
    size_t many = applier_run_all(&informer->applier, next, left);
    size_t done = many ? many : applier_run(&informer->applier, next, max);
    if (timed) informer->spent_ms += clock_now_ms(informer->clock) - begun_ms;
    if (informer->latency) measure(informer);
    if (!applier_has_begun(&informer->applier)) end_deltas(informer, many ? many : 1);
    informer->owed -= done < informer->owed ? done : informer->owed;
    return done;
}

static size_t move_some(struct shared_informer *informer, size_t max)
{
    size_t done = applier_move(&informer->applier, max);
    informer->owed -= done < informer->owed ? done : informer->owed;
    if (informer->latency) informer->mark_ns = clock_measure_ns();
    /* Who drains the lost slots waits for this. */
    if (!ranges_are_losing(informer->applier.ranges) && informer->shown) informer->shown(informer->shown_ctx);
    return done;
}

static bool is_moving(const struct shared_informer *informer)
{
    const struct ranges *ranges = informer->applier.ranges;
    return ranges && (ranges->is_taking_out || ranges->is_putting_back);
}

static bool is_to_move(const struct shared_informer *informer)
{
    const struct applier *applier = &informer->applier;
    return is_moving(informer) || (ranges_are_moving(applier->ranges) && !applier_has_begun(applier));
}

/* Chooses the next work. The store must not change during an initial delivery. But a handler may add another
 * one from every call, so the next delivery begins only when deltas had as much work, or there are none. */
static size_t process_step(struct shared_informer *informer, size_t max)
{
    const struct handler_list *handlers = &informer->applier.handlers;
    if (is_to_move(informer) && !handlers->delivering_initial) return move_some(informer, max);
    if (handlers->delivering_initial || (handlers->waiting && informer->owed == 0))
        return show_some(informer, max);
    size_t done = apply_some(informer, max);
    return done || !handlers->waiting ? done : show_some(informer, max);
}

static bool waits_for_turn(const struct shared_informer *informer)
{
    const struct transform *transform = &informer->applier.transform;
    return transform->later && transform->later(transform->ctx);
}

/* Object by object where each may cost a call. */
static size_t step_of(const struct shared_informer *informer, size_t left)
{
    return informer->applier.transform.later ? 1 : left;
}

size_t shared_informer_process(struct shared_informer *informer, size_t max)
{
    size_t done = 0, count;
    must(!informer->processing);
    informer->processing = true;
    if (informer->latency) informer->mark_ns = clock_measure_ns();
    while (done < max && !waits_for_turn(informer) &&
           (count = process_step(informer, step_of(informer, max - done))) > 0)
        done += count;
    informer->processing = false;
    return done;
}

void shared_informer_finish_delta(struct shared_informer *informer)
{
    must(!informer->processing);
    informer->processing = true;
    if (informer->latency) informer->mark_ns = clock_measure_ns();
    while (informer->applier.handlers.delivering_initial) show_some(informer, SIZE_MAX);
    while (informer->applier.cursor.open) {
        if (is_moving(informer))
            move_some(informer, SIZE_MAX);
        else
            apply_some(informer, SIZE_MAX);
    }
    informer->processing = false;
}

bool shared_informer_has_work(const struct shared_informer *informer)
{
    const struct handler_list *handlers = &informer->applier.handlers;
    if (waits_for_turn(informer)) return false;
    if (handlers->delivering_initial || handlers->waiting || ranges_are_moving(informer->applier.ranges))
        return true;
    return !is_in_doubt(informer) && (informer->batch_count > 0 || delta_fifo_len(informer->fifo) > 0);
}

void shared_informer_share(struct shared_informer *informer, enum shard_by by)
{
    informer->applier.ranges = NEW(struct ranges);
    informer->applier.ranges->by = by;
}

struct ranges *shared_informer_ranges(const struct shared_informer *informer)
{
    return informer->applier.ranges;
}

bool shared_informer_has_slot(const struct shared_informer *informer, size_t slot)
{
    return !informer->applier.transforming.open && slot_set_has(&informer->applier.ranges->listed, slot);
}

/* --- handlers and state */

/* Adapts the period of checks to the shortest one of all handlers, at any time, so that the order of scripts
 * does not matter; client-go raises the period of handlers that are added late (I-15). */
static void prepare_resync(struct shared_informer *informer, int64_t period_ms)
{
    int64_t shortest_ms = handler_list_resync_ms(&informer->applier.handlers);
    if (period_ms == RESYNC_NEVER || (shortest_ms != RESYNC_NEVER && shortest_ms <= period_ms)) return;
    delta_fifo_set_resync(informer->fifo, period_ms);
}

void shared_informer_add_handler(struct shared_informer *informer, const struct event_handler *handler,
                                 struct registration **registration)
{
    struct handler_list *handlers = &informer->applier.handlers;
    bool waited = handlers->waiting;
    if (handler->options) prepare_resync(informer, handler->options->resync_ms);
    handler_list_add(handlers, handler, clock_now_ms(informer->clock), informer->applier.store, registration);
    /* Without deltas nothing else would wake the engine for the initial delivery. */
    if (handlers->waiting && !waited) on_ready(informer);
}

void shared_informer_replace_handler(struct shared_informer *informer, struct registration *registration,
                                     const struct event_handler *handler)
{
    must(!informer->processing);
    handler_list_replace(&informer->applier.handlers, registration, handler, clock_now_ms(informer->clock));
    delta_fifo_set_resync(informer->fifo, handler_list_resync_ms(&informer->applier.handlers));
}

void shared_informer_remove_handler(struct shared_informer *informer, struct registration *registration)
{
    handler_list_remove(&informer->applier.handlers, registration);
    delta_fifo_set_resync(informer->fifo, handler_list_resync_ms(&informer->applier.handlers));
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
    return informer->applier.store;
}

void shared_informer_add_mirror(struct shared_informer *informer, struct indexer *store)
{
    mirrors_add(&informer->applier.mirrors, store, informer->applier.store);
}

void shared_informer_remove_mirror(struct shared_informer *informer, struct indexer *store)
{
    mirrors_remove(&informer->applier.mirrors, store);
}

struct delta_fifo *shared_informer_fifo(struct shared_informer *informer)
{
    return informer->fifo;
}

const struct transform_counts *shared_informer_transform_counts(const struct shared_informer *informer)
{
    return &informer->applier.transform_counts;
}

const char *shared_informer_name(const struct shared_informer *informer)
{
    return informer->name;
}
