/* Work queues of a script, and the workers of q:run: each key is a call that may wait, as many at once as
 * there are workers. Owner: the script, from k8s.queue to its end. On the engine thread. */
#pragma once
#include <lua.h>

#include "base/series/series.h"
#include "informer/workqueue/workqueue.h"
#include "script/vm/failure_log.h"
#include "script/vm/quarantine.h"
#include "script/vm/state.h"

enum { QUEUES_MAX = 100, WORKERS_MAX = 1000 };

/* Queue shared by the generations of a script. By count. */
struct queue_share {
    int refs;
    struct workqueue *queue;
    struct script_queue *owner;   /* of the generation that takes keys in; NULL: none does */
    TAILQ_HEAD(, key_work) works; /* under way, of all of them */
    size_t busy;
};

struct script_queue {
    TAILQ_ENTRY(script_queue) link;
    struct script *script;
    struct queue_share *share;
    struct workqueue *queue; /* of the share */
    char *name;
    int function; /* of q:run, in the registry; LUA_NOREF before */
    size_t workers;
    bool leader;          /* work begins while the script leads, and is fenced */
    uint64_t max_retries; /* UINT64_MAX: for ever */
    struct rate_limiter limiter;
    uint64_t errors;
    struct series *errors_series;
    struct failure_log report;
    struct quarantine quarantine;
};

/* Queue that the generation before had and this one has not. */
struct kept_queue {
    char *name;
    struct queue_share *share; /* a reference */
};

struct script_queues {
    TAILQ_HEAD(, script_queue) list;
    size_t count;
    struct script_queue *next;   /* that is served first; NULL: the first one */
    struct workqueue_quota keys; /* of all of them */
    bool workers_started;        /* all informers were synced */
    bool wait_logged;            /* the log has the informers that cannot sync */
    struct kept_queue *kept;
    size_t kept_count;
};

struct script_queue_options {
    struct str name;
    size_t workers;
    bool leader;
    uint64_t max_retries;
    struct rate_limiter limiter;
};

/* Userdata that a worker's function gets beside the key: it decides what happens to the key. */
enum { JOB_WHY_MAX = 256 };
struct job {
    enum { JOB_DONE, JOB_RETRY, JOB_AFTER } outcome;
    int64_t after_ms;
    int64_t retry_after_ms; /* of the error given to job:retry; 0: none */
    uint64_t retries;
    bool ended;
    char why[JOB_WHY_MAX]; /* of job:retry; cut when longer */
};

/* Returns NULL if the script has no queue with the name. */
struct script_queue *script_queue_find(const struct script *script, struct str name);
struct script_queue *script_queue_new(struct script *script, const struct script_queue_options *options);
/* Starts its workers, as soon as all informers of the script are synced. `function` is in the registry. */
void script_queue_run(lua_State *L, struct script_queue *queue, int function);

/* Returns whether a worker has the key: nobody else may end its work. */
bool script_queue_works_on(const struct script_queue *queue, struct str key);

/* The script is made. */
void queues_init(struct script *script);
/* Gives work to idle workers, a part of it in one turn of the loop. Outside of any call into Lua. */
void queues_turn(struct script *script);
/* Workers may be waiting for informers. */
void queues_claims_changed(struct script *script);
/* Appends the informers that workers wait for. Returns false and appends nothing if none waits. */
bool queues_describe_wait(const struct script *script, struct buf *out);
/* The script leads no more: work of leaders that waits is cancelled, and its keys wait for the next term. */
void queues_stop_leading(struct script *script);
/* For a reload: each queue of `to` that `from` has too, or has kept, goes on with what that one held; `to`
 * keeps the others of `from`, for one generation. Returns how many keys these have. Work of `from` that is
 * under way ends in the queue it was taken from. */
size_t queues_handover(struct script *from, struct script *to);
/* All are shut down. Returns how many keys they had. */
size_t queues_end(struct script *script);
/* Returns an estimate of the memory of keys, also of the queues that are kept for the next generation. */
size_t queues_bytes(const struct script *script);
/* Another generation has the queue now: this one takes nothing from it. */
bool script_queue_is_past(const struct script_queue *queue);
/* Nothing is taken in and no work begins any more. */
void queues_stop(struct script *script);
/* No task may be left, the state is closed. */
void queues_clear(struct script *script);

/* --- Keys that calls of a script have got by queue:get. A call that is cancelled, or ends by an error, puts
 * back what it did not end, so that no key is lost with it; after a good end any other call may end the work.
 * Owner: the wait that was handed the key, then the task; done, put back or kept, it is gone. On the engine
 * thread, inside calls into Lua and outside. */

struct processing_key;

/* `key` was just got, and lives until its work ends. Nobody knows of it yet. */
struct processing_key *processing_key_new(struct workqueue *queue, struct str key);
/* The task that runs has it from now on. */
void processing_key_give(struct script *script, struct processing_key *processing);
/* Nobody took it: it comes first again. */
void processing_key_put_back(struct processing_key *processing);
struct str processing_key_text(const struct processing_key *processing);

/* queue:done: the end of the work on a key, whoever got it. What was handed to a call that has not seen it
 * yet is not worked on: nothing happens then, as for all that nobody works on. */
void processing_key_done(struct workqueue *queue, struct str key);

/* --- Options of k8s.queue and k8s.controller, as the table at 1 has them: names and types were checked by
 * lua/k8s, here the values are. Owner: the table holds the name. On the engine thread, inside a call into
 * Lua. */

enum { QUEUE_NAME_MAX = 253 };

/* Raises what is wrong; messages begin with `maker`, what the script called. Leaves the table at 1. */
void queue_options_read(lua_State *L, const char *maker, struct script_queue_options *options);

/* --- Work on the keys of a script's queue: each is a task, which lua/k8s/job.lua runs with a job.
 * Owner: its task, until it ends. On the engine thread, outside of any call into Lua. */

/* A worker of the queue is called with the key, which the queue has given out. */
void queue_work_begin(struct script_queue *queue, struct str key);
/* Cancels what is under way for this generation's queue; its keys go back. */
void queue_work_cancel(struct script_queue *queue);
