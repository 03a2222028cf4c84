/* Workers of scripts; see script_queue.h. */
#include "script/script_queue.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "script/args.h"
#include "script/leading.h"

/* Of one queue in one turn of the loop. */
enum { KEYS_PER_TURN = 100 };

/* A key that is worked on. The text is its own: the queue's is gone with the work. */
struct work {
    TAILQ_ENTRY(work) link;
    struct script_queue *queue;
    struct job *job; /* NULL: no memory for it */
    int job_ref;     /* keeps it while the work goes on */
    struct task *task;
    size_t key_len;
    char key[];
};

static struct str key_of(const struct work *work)
{
    return (struct str){work->key, work->key_len};
}

/* --- the end of the work on a key */

static void give_up(const struct work *work, struct str why)
{
    const struct script_queue *q = work->queue;
    const struct log_field fields[] = {
        F("script", q->script->name),  F("queue", q->name), FS("key", key_of(work)),
        FI("retries", q->max_retries), FS("err", why),      {.key = NULL},
    };
    log_write(LOG_ERROR, q->script->path, 0, "Key dropped: the limit max_retries", fields);
}

static void retry(struct work *work, struct str why)
{
    struct script_queue *q = work->queue;
    if (workqueue_retry(q->queue, key_of(work), q->max_retries))
        workqueue_set_why(q->queue, key_of(work), why);
    else
        give_up(work, why);
}

/* Raised, or returned nil, err. */
static void fail(struct work *work, enum script_result result)
{
    struct script_queue *q = work->queue;
    const struct log_field about[] = {
        F("queue", q->name),
        FS("key", key_of(work)),
        FI("retries", workqueue_num_requeues(q->queue, key_of(work))),
        {.key = NULL},
    };
    q->errors++;
    series_inc(q->errors_series);
    report_failure(&q->report, q->script, SCRIPT_WORKER, result, about);
    retry(work, buf_slice(&q->script->failure.text));
}

static void succeed(struct work *work)
{
    struct workqueue *queue = work->queue->queue;
    const struct job *job = work->job;
    struct err err;
    if (job->outcome == JOB_RETRY) {
        log_v(4, "Key is tried again", F("script", work->queue->script->name), F("queue", work->queue->name),
              FS("key", key_of(work)), F("err", job->why));
        retry(work, str_of(job->why));
        return;
    }
    workqueue_forget(queue, key_of(work));
    if (job->outcome == JOB_AFTER && !workqueue_add_after(queue, key_of(work), job->after_ms, &err))
        log_warn("Key lost", F("queue", work->queue->name), FS("key", key_of(work)), F("err", err.text));
}

static void on_done(void *ctx, enum script_result result)
{
    struct work *work = ctx;
    struct script_queue *q = work->queue;
    struct script *script = q->script;
    quarantine_note(&q->quarantine, QUARANTINE_CALL, result);
    if (result == SCRIPT_OK)
        succeed(work);
    else if (result != SCRIPT_CANCELLED)
        fail(work, result);
    if (result == SCRIPT_CANCELLED)
        workqueue_put_back(q->queue, key_of(work)); /* as if nobody had begun */
    else
        workqueue_done(q->queue, key_of(work));
    q->share->busy--;
    TAILQ_REMOVE(&q->share->works, work, link);
    if (work->job) work->job->ended = true;
    luaL_unref(script->L, LUA_REGISTRYINDEX, work->job_ref);
    free(work);
    if (q->share->owner && workqueue_len(q->queue) > 0) turns_ask(q->share->owner->script);
}

/* --- its beginning */

/* The function, the key, the job: what lua/k8s/job.lua takes. */
static void push_work(lua_State *L, void *ctx)
{
    struct work *work = ctx;
    struct script_queue *q = work->queue;
    lua_rawgeti(L, LUA_REGISTRYINDEX, q->function);
    lua_pushlstring(L, work->key, work->key_len);
    struct job *job = lua_newuserdata(L, sizeof *job);
    *job = (struct job){.retries = workqueue_num_requeues(q->queue, key_of(work))};
    class_set(L, q->script, CLASS_JOB);
    lua_pushvalue(L, -1);
    work->job_ref = luaL_ref(L, LUA_REGISTRYINDEX);
    work->job = job;
}

/* For the audit trail. */
static void describe(void *ctx, struct buf *caller, struct buf *trigger)
{
    const struct work *work = ctx;
    buf_printf(caller, "queue %s", work->queue->name);
    buf_puts(trigger, "key ");
    buf_str(trigger, (struct str){work->key, work->key_len});
}

static void work_on(struct script_queue *q, struct str key)
{
    struct work *work = xcalloc(1, sizeof *work + key.n);
    work->queue = q;
    work->job_ref = LUA_NOREF;
    work->key_len = key.n;
    memcpy(work->key, key.p, key.n);
    q->share->busy++;
    TAILQ_INSERT_TAIL(&q->share->works, work, link);
    const struct task_call call = {.what = "a worker",
                                   .function = q->script->refs[REF_RUN_JOB],
                                   .fence = q->leader ? leading_fence(q->script) : NULL,
                                   .prepare = push_work,
                                   .prepare_ctx = work,
                                   .done = on_done,
                                   .describe = describe,
                                   .ctx = work};
    enum script_result result = task_run(q->script, &call, &work->task);
    if (result != SCRIPT_YIELDED) on_done(work, result);
}

/* True when it could go on at once. */
static bool give_out(struct script_queue *q)
{
    struct str key;
    for (int i = 0; i < KEYS_PER_TURN; i++) {
        if (q->quarantine.active || (q->leader && !script_leads(q->script))) return false;
        if (q->share->busy >= q->workers || !workqueue_get(q->queue, &key)) return false;
        work_on(q, key);
        if (turns_over(q->script)) break;
    }
    return q->share->busy < q->workers && workqueue_len(q->queue) > 0;
}

void queues_turn(struct script *script)
{
    struct script_queue *q = script->next_queue;
    size_t left = script->queue_count;
    bool more = false;
    if (TAILQ_EMPTY(&script->queues) || script->phase != SCRIPT_RUNNING) return;
    /* Work reads caches, so it begins when they are whole, as controllers wait for cache sync. */
    if (!script->workers_started) script->workers_started = script_has_synced(script);
    if (!script->workers_started) return;
    for (; left > 0 && !script->host->turns->over; left--) {
        if (!q) q = TAILQ_FIRST(&script->queues);
        if (q->function != LUA_NOREF) more = give_out(q) || more;
        q = TAILQ_NEXT(q, link);
    }
    script->next_queue = q;
    if (more || left > 0) turns_ask(script);
}

void queues_claims_changed(struct script *script)
{
    if (!script->workers_started && !TAILQ_EMPTY(&script->queues)) turns_ask(script);
}

/* --- their life */

struct script_queue *script_queue_find(const struct script *script, struct str name)
{
    struct script_queue *q;
    TAILQ_FOREACH (q, &script->queues, link)
        if (str_is(name, q->name)) return q;
    return NULL;
}

/* Its keys have waited. */
static void work_again(struct quarantine *quarantine)
{
    turns_ask(quarantine->script);
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
    turns_ask(q->script);
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
        .errors_series = SERIES(FAMILY_HANDLER_ERRORS, script->name, id),
    };
    quarantine_init(&q->quarantine, script, id, work_again);
    free(id);
    q->share = new_share(q);
    q->queue = q->share->queue = workqueue_new(&(struct workqueue_options){
        .name = q->name,
        .script = script->name,
        .clock = script_clock(script),
        .limiter = options->limiter,
        .quota = &script->queue_keys,
        .ready = on_ready,
        .ctx = q,
    });
    TAILQ_INSERT_TAIL(&script->queues, q, link);
    script->queue_count++;
    return q;
}

void script_queue_run(lua_State *L, struct script_queue *q, int function)
{
    q->function = function;
    report_place(&q->report, L, function);
    workqueue_has_workers(q->queue);
    turns_ask(q->script);
}

/* What it was given while it loaded comes behind what was there. */
static void follow(struct script_queue *q, struct script_queue *before)
{
    struct workqueue *mine = q->queue;
    before->share->refs++;
    workqueue_hand_over(before->queue, &(struct workqueue_owner){&q->script->queue_keys, on_ready, q},
                        &q->limiter);
    workqueue_take_over(before->queue, mine);
    leave_share(q);
    q->share = before->share;
    q->share->owner = q;
    q->queue = q->share->queue;
    q->errors += before->errors;
    if (q->function != LUA_NOREF) workqueue_has_workers(q->queue);
    turns_ask(q->script);
}

/* One that the script has shut down is over; its successor begins anew. */
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
    TAILQ_FOREACH (q, &script->queues, link) {
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

size_t queues_hand_over(struct script *from, struct script *to)
{
    struct script_queue *q, *next;
    TAILQ_FOREACH (q, &from->queues, link) {
        next = script_queue_find(to, str_of(q->name));
        if (next && goes_on(q)) follow(next, q);
    }
    to->workers_started = from->workers_started;
    return queues_end(from);
}

bool script_queue_works_on(const struct script_queue *q, struct str key)
{
    const struct work *work;
    TAILQ_FOREACH (work, &q->share->works, link)
        if (str_eq(key_of(work), key)) return true;
    return false;
}

size_t script_queue_count(const struct script *script)
{
    return script->queue_count;
}

void script_get_queue_status(const struct script *script, size_t i, struct script_queue_status *status)
{
    const struct script_queue *q = TAILQ_FIRST(&script->queues);
    while (i-- > 0) q = TAILQ_NEXT(q, link);
    *status = (struct script_queue_status){
        .name = q->name, .workers = q->function == LUA_NOREF ? 0 : q->workers, .errors = q->errors};
    workqueue_get_status(q->queue, &status->queue);
    status->failing_count = workqueue_get_failing(q->queue, status->failing, QUEUE_FAILING_SHOWN);
}

void queues_stop_leading(struct script *script)
{
    struct script_queue *q;
    struct work *work, *next;
    TAILQ_FOREACH (q, &script->queues, link)
        for (work = TAILQ_FIRST(&q->share->works); q->leader && work; work = next) {
            next = TAILQ_NEXT(work, link);
            if (work->queue == q) task_cancel(work->task);
        }
}

void queues_stop(struct script *script)
{
    struct script_queue *q;
    TAILQ_FOREACH (q, &script->queues, link)
        if (!script_queue_is_past(q)) workqueue_shut_down(q->queue);
}

void queues_clear(struct script *script)
{
    struct script_queue *q;
    while ((q = TAILQ_FIRST(&script->queues))) {
        TAILQ_REMOVE(&script->queues, q, link);
        leave_share(q);
        report_end(&q->report);
        series_free(q->errors_series);
        quarantine_clear(&q->quarantine);
        free(q->name);
        free(q);
    }
}
