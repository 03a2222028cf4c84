/* Queues of scripts, and their turns; see script_queue.h. */
#include "script/work/script_queue.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "script/handlers/handler.h"
#include "script/handlers/initial_sync.h"
#include "script/handlers/leading.h"
#include "script/vm/args.h"
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
    for (size_t i = 0; i < script->informers.count; i++) claim_describe_lag(script->informers.claims[i], out);
    return out->len > before;
}

/* --- lifetime */

/* Returns NULL if the script has no queue with the name. */
static struct script_queue *script_queue_find(const struct script *script, struct str name)
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

static void leave_share(struct script_queue *q)
{
    struct queue_share *share = q->share;
    if (share->owner == q) {
        share->owner = NULL;
        workqueue_abandon(share->queue);
    }
    if (--share->refs > 0) return;
    workqueue_free(share->queue);
    free(share);
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

/* Continues the queue of the previous generation. Keys added while the script loaded come behind those that
 * were there. */
static void follow(struct script_queue *q, struct script_queue *before)
{
    struct workqueue *mine = q->queue;
    before->share->refs++;
    workqueue_handover(before->queue, &(struct workqueue_owner){&q->script->own.queues->keys, on_ready, q},
                       &q->limiter);
    workqueue_absorb(before->queue, mine);
    /* The share goes on, with keys, retries and calls in flight; only its owner changes. The new queue's own
     * share is empty now. */
    leave_share(q);
    q->share = before->share;
    q->share->owner = q;
    q->queue = q->share->queue;
    q->errors += before->errors;
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

size_t queues_handover(struct script *from, struct script *to)
{
    struct script_queue *q, *next;
    TAILQ_FOREACH (q, &from->own.queues->list, link) {
        next = script_queue_find(to, str_of(q->name));
        if (next && goes_on(q)) follow(next, q);
    }
    to->own.queues->workers_started = from->own.queues->workers_started;
    return queues_end(from);
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
}

/* --- Options of k8s.queue */

/* Returns whether the table at 1 has the option `name`. Its value goes to 2. */
static bool option(lua_State *L, const char *name)
{
    lua_settop(L, 1);
    lua_getfield(L, 1, name);
    return !lua_isnil(L, 2);
}

static int64_t duration_option(lua_State *L, const char *maker, const char *name, int64_t default_ms)
{
    char what[64];
    snprintf(what, sizeof what, "%s: %s", maker, name);
    return option(L, name) ? arg_duration_ms(L, 2, what) : default_ms;
}

static double number_option(lua_State *L, const char *maker, const char *name, double default_, double least,
                            double most)
{
    if (!option(L, name)) return default_;
    lua_Number n = lua_tonumber(L, 2);
    if (!(n >= least && n <= most))
        script_raise(L, "%s: %s must be between %.14g and %.14g, not %.14g", maker, name, least, most, n);
    return n;
}

static uint64_t count_option(lua_State *L, const char *maker, const char *name, uint64_t default_,
                             double least, double most)
{
    double n = number_option(L, maker, name, (double)default_, least, most);
    if (n != floor(n)) script_raise(L, "%s: %s must be a whole number, not %.14g", maker, name, n);
    return (uint64_t)n;
}

/* W-8: without options it is the default limiter of controllers. */
static struct rate_limiter limiter_options(lua_State *L, const char *maker)
{
    const double most = 1e9;
    struct rate_limiter limiter = {.exponential.on = true};
    limiter.exponential.base_ms = duration_option(L, maker, "base", 5);
    limiter.exponential.max_ms = duration_option(L, maker, "max", 1000000);
    if (limiter.exponential.max_ms < limiter.exponential.base_ms)
        script_raise(L, "%s: max must not be less than base", maker);
    limiter.bucket.per_second = number_option(L, maker, "qps", 10, 0, most);
    limiter.bucket.burst = (double)count_option(L, maker, "burst", 100, 1, most);
    limiter.bucket.on = limiter.bucket.per_second > 0;
    limiter.fast_slow.on = option(L, "slow");
    limiter.fast_slow.slow_ms = duration_option(L, maker, "slow", 0);
    limiter.fast_slow.fast_ms = duration_option(L, maker, "fast", limiter.exponential.base_ms);
    limiter.fast_slow.tries = count_option(L, maker, "fast_tries", 3, 0, most);
    if (!limiter.fast_slow.on && (option(L, "fast") || option(L, "fast_tries")))
        script_raise(L, "%s: fast and fast_tries need slow", maker);
    limiter.max_wait_ms = duration_option(L, maker, "max_wait", 0);
    return limiter;
}

static struct str name_option(lua_State *L, const char *maker)
{
    char what[64];
    snprintf(what, sizeof what, "%s: name", maker);
    option(L, "name");
    struct str name = arg_str(L, 2, what); /* kept by the table */
    bool good = name.n >= 1 && name.n <= QUEUE_NAME_MAX;
    for (size_t i = 0; good && i < name.n; i++) good = (unsigned char)name.p[i] >= ' ' && name.p[i] != 127;
    if (!good)
        script_raise(L, "%s: name must be a string of 1 to %d printable characters", maker, QUEUE_NAME_MAX);
    if (script_queue_find(script_of(L), name))
        script_raise(L, "%s: the name \"%.*s\" is already used; set another one with name = ...", maker,
                     STR_ARG(name));
    return name;
}

void queue_options_read(lua_State *L, const char *maker, struct script_queue_options *options)
{
    arg_loading(L, maker);
    arg_table(L, 1, "the options of a queue");
    if (script_of(L)->own.queues->count >= QUEUES_MAX)
        script_raise(L, "%s: limit queues exceeded: there are already %d", maker, QUEUES_MAX);
    *options = (struct script_queue_options){.name = name_option(L, maker), .max_retries = UINT64_MAX};
    options->workers = count_option(L, maker, "workers", 1, 1, WORKERS_MAX);
    options->leader = option(L, "leader") && lua_toboolean(L, 2);
    if (option(L, "max_retries")) options->max_retries = count_option(L, maker, "max_retries", 0, 0, 1e9);
    options->limiter = limiter_options(L, maker);
}
