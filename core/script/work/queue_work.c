/* Calls of workers, and the end of their keys; see script_queue.h. */
#include "script/work/script_queue.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "script/handlers/leading.h"
#include "script/handlers/sharding.h"
#include "script/vm/args.h"
#include "script/vm/quarantine.h"
#include "script/vm/task.h"
#include "script/vm/turns.h"

/* Work on a key. The string is its own: that of the queue is freed with the work. */
struct key_work {
    TAILQ_ENTRY(key_work) link;
    struct script_queue *queue;
    struct job *job; /* NULL: no memory for it */
    int job_ref;     /* keeps it while the work goes on */
    struct task *task;
    size_t key_len;
    char key[];
};

static struct str key_of(const struct key_work *work)
{
    return (struct str){work->key, work->key_len};
}

/* --- the end of the work on a key */

static void give_up(const struct key_work *work, struct str why)
{
    const struct script_queue *q = work->queue;
    const struct log_field fields[] = {
        F("script", q->script->id.name), F("queue", q->name), FS("key", key_of(work)),
        FI("retries", q->max_retries),   FS("err", why),      {.key = NULL},
    };
    log_write(LOG_ERROR, q->script->id.path, 0, "Key dropped after max_retries", fields);
}

/* Retries the key, but not before the time that the error names (W-10). */
static void retry(struct key_work *work, struct str why, int64_t retry_after_ms)
{
    struct script_queue *q = work->queue;
    if (workqueue_retry(q->queue, key_of(work), q->max_retries, retry_after_ms))
        workqueue_set_why(q->queue, key_of(work), why);
    else
        give_up(work, why);
}

/* Handles a call that raised, or returned nil, err. */
static void fail(struct key_work *work, enum script_result result)
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
    failure_log_add(&q->report, q->script, SCRIPT_WORKER, result, about);
    retry(work, buf_slice(&q->script->failure.text), q->script->failure.retry_after_ms);
}

static void succeed(struct key_work *work)
{
    struct workqueue *queue = work->queue->queue;
    const struct job *job = work->job;
    struct err err;
    if (job->outcome == JOB_RETRY) {
        log_v(4, "Retrying key", F("script", work->queue->script->id.name), F("queue", work->queue->name),
              FS("key", key_of(work)), F("err", job->why));
        retry(work, str_of(job->why), job->retry_after_ms);
        return;
    }
    workqueue_forget(queue, key_of(work));
    if (job->outcome == JOB_AFTER && !workqueue_add_after(queue, key_of(work), job->after_ms, &err))
        log_warn("Key lost", F("queue", work->queue->name), FS("key", key_of(work)), F("err", err.text));
}

static void on_done(void *ctx, enum script_result result)
{
    struct key_work *work = ctx;
    struct script_queue *q = work->queue;
    struct script *script = q->script;
    quarantine_note(&q->quarantine, QUARANTINE_CALL, result);
    if (result == SCRIPT_OK)
        succeed(work);
    else if (result != SCRIPT_CANCELLED)
        fail(work, result);
    if (result == SCRIPT_CANCELLED)
        workqueue_put_back(q->queue,
                           key_of(work)); /* as if never begun: a cancelled call says nothing about the key */
    else
        workqueue_done(q->queue, key_of(work));
    q->share->busy--;
    TAILQ_REMOVE(&q->share->works, work, link);
    if (work->job) work->job->ended = true;
    luaL_unref(script->L, LUA_REGISTRYINDEX, work->job_ref);
    free(work);
    /* A successor of another generation may own the share by now. */
    if (q->share->owner && workqueue_len(q->queue) > 0) turns_schedule(q->share->owner->script);
}

/* --- its beginning */

/* Pushes function, key and job for lua/k8s/job.lua. */
static void push_work(lua_State *L, void *ctx)
{
    struct key_work *work = ctx;
    struct script_queue *q = work->queue;
    script_push_function(L, q->function);
    lua_pushlstring(L, work->key, work->key_len);
    struct job *job = lua_newuserdata(L, sizeof *job);
    *job = (struct job){.retries = workqueue_num_requeues(q->queue, key_of(work))};
    class_set(L, q->script, CLASS_JOB);
    lua_pushvalue(L, -1);
    work->job_ref = luaL_ref(L, LUA_REGISTRYINDEX);
    work->job = job;
}

/* Describes the call for the write log. */
static void describe(void *ctx, struct buf *caller, struct buf *trigger)
{
    const struct key_work *work = ctx;
    buf_printf(caller, "queue %s", work->queue->name);
    buf_puts(trigger, "key ");
    buf_str(trigger, (struct str){work->key, work->key_len});
}

/* A slot that was lost and came back has an empty cache until its list: the key would look like that of an
 * object that is gone. */
static bool must_wait(struct script_queue *q, struct str key, unsigned slot)
{
    enum { LOOK_MS = 100 };
    if (sharding_is_listed(q->script, slot)) return false;
    workqueue_postpone(q->queue, key, LOOK_MS);
    return true;
}

void queue_work_begin(struct script_queue *q, struct str key)
{
    unsigned slot = workqueue_slot(q->queue, key);
    if (!sharding_owns(q->script, slot)) { /* another replica was told of its object */
        workqueue_forget(q->queue, key);
        workqueue_done(q->queue, key);
        return;
    }
    if (must_wait(q, key, slot)) return;
    struct key_work *work = xcalloc(1, sizeof *work + key.n);
    work->queue = q;
    work->job_ref = LUA_NOREF;
    work->key_len = key.n;
    memcpy(work->key, key.p, key.n);
    q->share->busy++;
    TAILQ_INSERT_TAIL(&q->share->works, work, link);
    struct fence *fence = sharding_fence(q->script, slot, q->leader ? leading_fence(q->script) : NULL);
    const struct task_call call = {.what = "a worker",
                                   .function = q->script->refs[REF_RUN_JOB],
                                   .fence = fence,
                                   .slot = slot,
                                   .prepare = push_work,
                                   .prepare_ctx = work,
                                   .done = on_done,
                                   .describe = describe,
                                   .ctx = work};
    enum script_result result = task_run(q->script, &call, &work->task);
    fence_unref(fence);
    if (result != SCRIPT_YIELDED) on_done(work, result);
}

/* --- for the queue */

void queue_work_cancel(struct script_queue *q)
{
    struct key_work *work, *next;
    for (work = TAILQ_FIRST(&q->share->works); work; work = next) {
        next = TAILQ_NEXT(work, link);
        if (work->queue == q) task_cancel(work->task);
    }
}

bool script_queue_works_on(const struct script_queue *q, struct str key)
{
    const struct key_work *work;
    TAILQ_FOREACH (work, &q->share->works, link)
        if (str_eq(key_of(work), key)) return true;
    return false;
}

/* --- processing key, which a task puts back when it fails */

struct processing_key {
    struct task_cleanup cleanup;
    struct workqueue *queue;
    struct str key; /* owned by the queue */
    bool given;     /* a task has it */
};

struct processing_key *processing_key_new(struct workqueue *queue, struct str key)
{
    struct processing_key *processing = NEW(struct processing_key);
    processing->queue = queue;
    processing->key = key;
    workqueue_set_holder(queue, key, processing);
    return processing;
}

struct str processing_key_text(const struct processing_key *processing)
{
    return processing->key;
}

void processing_key_put_back(struct processing_key *processing)
{
    workqueue_put_back(processing->queue, processing->key);
    free(processing);
}

static void on_task_end(struct task_cleanup *cleanup, bool well)
{
    struct processing_key *processing = container_of(cleanup, struct processing_key, cleanup);
    if (!well) {
        processing_key_put_back(processing);
        return;
    }
    workqueue_set_holder(processing->queue, processing->key, NULL);
    free(processing);
}

void processing_key_give(struct script *script, struct processing_key *processing)
{
    processing->given = true;
    processing->cleanup.end = on_task_end;
    task_add_cleanup(script, &processing->cleanup);
}

void processing_key_done(struct workqueue *queue, struct str key)
{
    struct processing_key *processing = workqueue_holder(queue, key);
    /* Not seen by a task yet, so no call is working on it: queue:done of a stranger must not end it. */
    if (processing && !processing->given) return;
    if (processing) task_remove_cleanup(&processing->cleanup);
    free(processing);
    workqueue_done(queue, key);
}
