/* Queues of scripts, and their turns; see script_queue.h. */
#include "script/work/script_queue.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/mem.h"
#include "script/handlers/handler.h"
#include "script/handlers/initial_sync.h"
#include "script/handlers/leading.h"
#include "script/vm/quarantine.h"
#include "script/vm/turns.h"

/* Bound of one queue in one turn of the loop, so that a long queue does not starve the others. */
enum { KEYS_PER_TURN = 100 };

/* --- turns */

/* Starts calls of workers. Returns true if more could start at once. */
static bool give_out(struct script_queue *q)
{
    struct str key;
    for (int i = 0; i < KEYS_PER_TURN; i++) {
        if (q->quarantine.active || (q->leader && !script_leads(q->script))) return false;
        if (q->share->busy >= q->workers || !workqueue_get(q->queue, &key)) return false;
        queue_work_begin(q, key);
        if (turns_expired(q->script)) break;
    }
    return q->share->busy < q->workers && workqueue_len(q->queue) > 0;
}

void queues_turn(struct script *script)
{
    struct script_queue *q = script->own.queues->next;
    size_t left = script->own.queues->count;
    bool more = false;
    if (TAILQ_EMPTY(&script->own.queues->list) || script->phase != SCRIPT_RUNNING) return;
    /* Returns whether workers may begin: work reads caches, so it waits until they are complete, as
     * controllers wait for cache sync. */
    if (!script->own.queues->workers_started)
        script->own.queues->workers_started = handlers_have_synced(script);
    if (!script->own.queues->workers_started) return;
    for (; left > 0 && !script->host->turns->over; left--) {
        if (!q) q = TAILQ_FIRST(&script->own.queues->list);
        if (q->function != LUA_NOREF) more = give_out(q) || more;
        q = TAILQ_NEXT(q, link);
    }
    /* The next turn starts behind the queue that used up this one. */
    script->own.queues->next = q;
    if (more || left > 0) turns_schedule(script);
}

static bool has_workers(const struct script *script)
{
    const struct script_queue *q;
    TAILQ_FOREACH (q, &script->own.queues->list, link)
        if (q->function != LUA_NOREF) return true;
    return false;
}

void queues_claims_changed(struct script *script)
{
    struct script_queues *queues = script->own.queues;
    if (queues->workers_started || TAILQ_EMPTY(&queues->list)) return;
    turns_schedule(script);
    if (queues->wait_logged || script->phase != SCRIPT_RUNNING || !has_workers(script)) return;
    if (!initial_sync_reached(script)) return;
    initial_sync_log(script, "Workers wait for an informer that cannot sync");
    queues->wait_logged = true;
}

bool queues_describe_wait(const struct script *script, struct buf *out)
{
    size_t before = out->len;
    if (script->own.queues->workers_started || !has_workers(script)) return false;
    for (size_t i = 0; i < script_loaded_claims(script); i++)
        if (claim_is_of_home(script->informers.claims[i]))
            claim_describe_lag(script->informers.claims[i], out);
    return out->len > before;
}

/* --- lifetime */

struct script_queue *script_queue_find(const struct script *script, struct str name)
{
    struct script_queue *q;
    TAILQ_FOREACH (q, &script->own.queues->list, link)
        if (str_is(name, q->name)) return q;
    return NULL;
}

/* Continues after a quarantine, during which keys have waited. */
static void work_again(struct quarantine *quarantine)
{
    turns_schedule(quarantine->script);
}

static struct queue_share *new_share(struct script_queue *q)
{
    struct queue_share *share = NEW(struct queue_share);
    share->refs = 1;
    share->owner = q;
    TAILQ_INIT(&share->works);
    return share;
}

static void unref_share(struct queue_share *share)
{
    if (--share->refs > 0) return;
    workqueue_free(share->queue);
    free(share);
}

static void leave_share(struct script_queue *q)
{
    struct queue_share *share = q->share;
    if (share->owner == q) {
        share->owner = NULL;
        workqueue_abandon(share->queue);
    }
    unref_share(share);
}

bool script_queue_is_past(const struct script_queue *q)
{
    return q->share->owner != q;
}

static void on_ready(void *ctx)
{
    struct script_queue *q = ctx;
    turns_schedule(q->script);
}

struct script_queue *script_queue_new(struct script *script, const struct script_queue_options *options)
{
    struct script_queue *q = NEW(struct script_queue);
    char *id = xasprintf("queue/%.*s", STR_ARG(options->name));
    *q = (struct script_queue){
        .script = script,
        .name = xstrndup(options->name.p, options->name.n),
        .function = LUA_NOREF,
        .workers = options->workers,
        .leader = options->leader,
        .max_retries = options->max_retries,
        .limiter = options->limiter,
        .errors_series = SERIES(&family_handler_errors, script->id.name, id),
    };
    quarantine_init(&q->quarantine, script, id, work_again);
    free(id);
    q->share = new_share(q);
    q->queue = q->share->queue = workqueue_new(&(struct workqueue_options){
        .name = q->name,
        .script = script->id.name,
        .clock = script_clock(script),
        .limiter = options->limiter,
        .quota = &script->own.queues->keys,
        .ready = on_ready,
        .ctx = q,
    });
    TAILQ_INSERT_TAIL(&script->own.queues->list, q, link);
    script->own.queues->count++;
    return q;
}

void script_queue_run(lua_State *L, struct script_queue *q, int function)
{
    q->function = function;
    failure_log_set_place(&q->report, L, function);
    workqueue_has_workers(q->queue);
    turns_schedule(q->script);
}

/* Continues the queue of a previous generation; takes a reference to its share. Keys added while the script
 * loaded come behind those that were there. */
static void follow(struct script_queue *q, struct queue_share *share)
{
    struct workqueue *mine = q->queue;
    workqueue_handover(
        share->queue,
        &(struct workqueue_owner){&q->script->own.queues->keys, on_ready, q, q->name, q->script->id.name},
        &q->limiter);
    workqueue_absorb(share->queue, mine);
    /* The share goes on, with keys, retries and calls in flight; only its owner changes. The new queue's own
     * share is empty now. */
    leave_share(q);
    q->share = share;
    q->share->owner = q;
    q->queue = q->share->queue;
    if (q->function != LUA_NOREF) workqueue_has_workers(q->queue);
    turns_schedule(q->script);
}

/* Returns whether the queue continues. One that the script has shut down is over; its successor starts
 * empty. */
static bool goes_on(const struct script_queue *before)
{
    struct workqueue_status status;
    workqueue_get_status(before->queue, &status);
    return !status.shut_down && !script_queue_is_past(before);
}

size_t queues_end(struct script *script)
{
    struct script_queue *q;
    size_t dropped = 0;
    TAILQ_FOREACH (q, &script->own.queues->list, link) {
        struct workqueue_status status;
        if (script_queue_is_past(q)) continue;
        workqueue_get_status(q->queue, &status);
        dropped += status.depth + status.delayed;
        q->share->owner = NULL;
        workqueue_abandon(q->queue);
        workqueue_end_waits(q->queue);
    }
    return dropped;
}

/* Keeps a queue that its next generation dropped. Returns the number of its keys. */
static size_t keep(struct script_queue *q, struct script_queues *queues)
{
    struct workqueue_status status;
    q->share->refs++;
    q->share->owner = NULL;
    workqueue_park(q->queue);
    *array_add(queues->kept, queues->kept_count) = (struct kept_queue){xstrdup(q->name), q->share};
    workqueue_get_status(q->queue, &status);
    return status.depth + status.delayed;
}

/* Takes back what the generation before `from` had. */
static void take_back(struct script_queues *from, struct script *to)
{
    for (size_t i = from->kept_count; i-- > 0;) {
        struct kept_queue kept = from->kept[i];
        struct script_queue *next = script_queue_find(to, str_of(kept.name));
        if (!next) continue;
        follow(next, kept.share);
        array_remove(from->kept, from->kept_count, i);
        free(kept.name);
    }
}

size_t queues_handover(struct script *from, struct script *to)
{
    struct script_queue *q, *next;
    size_t dropped = 0;
    TAILQ_FOREACH (q, &from->own.queues->list, link) {
        next = script_queue_find(to, str_of(q->name));
        if (!goes_on(q)) continue;
        if (!next) {
            dropped += keep(q, to->own.queues);
            continue;
        }
        q->share->refs++;
        next->errors += q->errors;
        follow(next, q->share);
    }
    take_back(from->own.queues, to);
    to->own.queues->workers_started = from->own.queues->workers_started;
    return dropped + queues_end(from);
}

size_t queues_bytes(const struct script *script)
{
    const struct script_queues *queues = script->own.queues;
    size_t bytes = queues->keys.bytes;
    for (size_t i = 0; i < queues->kept_count; i++)
        bytes += workqueue_parked_bytes(queues->kept[i].share->queue);
    return bytes;
}

void queues_stop_leading(struct script *script)
{
    struct script_queue *q;
    TAILQ_FOREACH (q, &script->own.queues->list, link)
        if (q->leader) queue_work_cancel(q);
}

void queues_init(struct script *script)
{
    TAILQ_INIT(&script->own.queues->list);
    script->own.queues->keys.max = (size_t)script->limits.values[LIMIT_QUEUE_KEYS];
}

void queues_stop(struct script *script)
{
    struct script_queue *q;
    TAILQ_FOREACH (q, &script->own.queues->list, link)
        if (!script_queue_is_past(q)) workqueue_shut_down(q->queue);
}

void queues_clear(struct script *script)
{
    struct script_queue *q;
    while ((q = TAILQ_FIRST(&script->own.queues->list))) {
        TAILQ_REMOVE(&script->own.queues->list, q, link);
        leave_share(q);
        failure_log_flush(&q->report);
        series_free(q->errors_series);
        quarantine_clear(&q->quarantine);
        free(q->name);
        free(q);
    }
    for (size_t i = 0; i < script->own.queues->kept_count; i++) {
        free(script->own.queues->kept[i].name);
        unref_share(script->own.queues->kept[i].share);
    }
    free(script->own.queues->kept);
}
