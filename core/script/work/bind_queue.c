/* raw.queue: work queues, with client-go's functions. */
#include <stdlib.h>

#include "base/mem.h"
#include "script/inventory/bind_inventory.h"
#include "script/inventory/function_hash.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"
#include "script/vm/task.h"
#include "script/work/script_queue.h"

struct queue_box {
    struct script_queue *queue;
};

/* --- making one */

/* new(options): names and types were checked. While the script loads. */
static int l_queue_new(lua_State *L)
{
    struct script *script = script_of(L);
    struct script_queue_options options;
    queue_options_read(L, own_text(L, lua_upvalueindex(1)), &options);
    struct queue_box *box = lua_newuserdata(L, sizeof *box);
    class_set(L, script, CLASS_QUEUE);
    box->queue = script_queue_new(script, &options);
    return 1;
}

/* The function at 2. */
static void plan_worker(lua_State *L, const char *queue)
{
    struct script *script = script_of(L);
    char hash[FUNCTION_HASH_LEN + 1], key[QUEUE_NAME_MAX + 8], detail[FUNCTION_HASH_LEN + 16];
    if (script->phase != SCRIPT_LOADING) return;
    function_hash(L, 2, hash);
    snprintf(key, sizeof key, "%s: run", queue);
    snprintf(detail, sizeof detail, "function %s", hash);
    inventory_note(L, INVENTORY_QUEUE, str_of(key), str_of(detail));
}

/* run(fn): the workers' function. Once. */
static int l_queue_run(lua_State *L)
{
    struct queue_box *box = class_self(L, CLASS_QUEUE, "run");
    arg_function(L, 2, "queue:run: the argument");
    if (box->queue->function != LUA_NOREF)
        script_raise(L, "queue:run was already called on the queue \"%s\"", box->queue->name);
    lua_settop(L, 2);
    plan_worker(L, box->queue->name);
    script_queue_run(L, box->queue, luaL_ref(L, LUA_REGISTRYINDEX));
    return 0;
}

/* --- keys in */

static struct workqueue *self(lua_State *L, const char *method)
{
    struct queue_box *box = class_self(L, CLASS_QUEUE, method);
    return box->queue->queue;
}

static void check_added(lua_State *L, bool added, const char *method, const struct err *err)
{
    if (!added) script_raise(L, "queue:%s: %s", method, err->text);
}

/* A key belongs to the replica that has the object for whose sake it was added. */
static void note_slot(lua_State *L, struct workqueue *queue, struct str key)
{
    const struct script *script = script_of(L);
    if (script->host->cluster->shards) workqueue_note_slot(queue, key, task_slot(script));
}

static int l_queue_add(lua_State *L)
{
    struct err err;
    struct workqueue *queue = self(L, "add");
    struct str key = arg_str(L, 2, "queue:add: the key");
    check_added(L, workqueue_add(queue, key, &err), "add", &err);
    note_slot(L, queue, key);
    return 0;
}

static int l_queue_add_after(lua_State *L)
{
    struct err err;
    struct workqueue *queue = self(L, "add_after");
    struct str key = arg_str(L, 2, "queue:add_after: the key");
    int64_t delay_ms = arg_duration_ms(L, 3, "queue:add_after: the duration");
    check_added(L, workqueue_add_after(queue, key, delay_ms, &err), "add_after", &err);
    note_slot(L, queue, key);
    return 0;
}

static int l_queue_add_rate_limited(lua_State *L)
{
    struct err err;
    struct workqueue *queue = self(L, "add_rate_limited");
    struct str key = arg_str(L, 2, "queue:add_rate_limited: the key");
    check_added(L, workqueue_add_rate_limited(queue, key, &err), "add_rate_limited", &err);
    note_slot(L, queue, key);
    return 0;
}

static int l_queue_done(lua_State *L)
{
    struct queue_box *box = class_self(L, CLASS_QUEUE, "done");
    struct str key = arg_str(L, 2, "queue:done: the key");
    if (script_queue_works_on(box->queue, key))
        script_raise(L,
                     "queue:done: key \"%.*s\" is being processed by a worker of queue:run, which is done "
                     "when its function returns",
                     STR_ARG(key));
    processing_key_done(box->queue->queue, key);
    return 0;
}

static int l_queue_forget(lua_State *L)
{
    struct workqueue *queue = self(L, "forget");
    workqueue_forget(queue, arg_str(L, 2, "queue:forget: the key"));
    return 0;
}

static int l_queue_num_requeues(lua_State *L)
{
    struct workqueue *queue = self(L, "num_requeues");
    struct str key = arg_str(L, 2, "queue:num_requeues: the key");
    lua_pushnumber(L, (lua_Number)workqueue_num_requeues(queue, key));
    return 1;
}

static int l_queue_len(lua_State *L)
{
    lua_pushnumber(L, (lua_Number)workqueue_len(self(L, "len")));
    return 1;
}

/* --- waiting */

struct queue_wait {
    struct task_wait wait;
    struct workqueue_waiter waiter;
    struct workqueue *queue;
    struct processing_key *processing; /* handed to it; NULL: closed */
};

static struct queue_wait *new_wait(struct workqueue *queue, void (*wake)(struct workqueue_waiter *waiter))
{
    struct queue_wait *w = NEW(struct queue_wait);
    w->queue = queue;
    w->waiter.wake = wake;
    return w;
}

static void drop_wait(struct task_wait *wait)
{
    struct queue_wait *w = container_of(wait, struct queue_wait, wait);
    workqueue_stop_waiting(w->queue, &w->waiter);
    if (w->processing) processing_key_put_back(w->processing); /* nobody took it */
    free(w);
}

static int push_key(lua_State *L, struct str key)
{
    lua_pushlstring(L, key.p, key.n);
    lua_pushboolean(L, 0);
    return 2;
}

static int push_closed(lua_State *L)
{
    lua_pushnil(L);
    lua_pushboolean(L, 1);
    return 2;
}

static int push_got(lua_State *L, struct task_wait *wait)
{
    struct queue_wait *w = container_of(wait, struct queue_wait, wait);
    if (!w->processing) return push_closed(L);
    push_key(L, processing_key_text(w->processing));
    processing_key_give(script_of(L), w->processing);
    w->processing = NULL;
    return 2;
}

static void on_key(struct workqueue_waiter *waiter)
{
    struct queue_wait *w = container_of(waiter, struct queue_wait, waiter);
    if (waiter->key.p) w->processing = processing_key_new(w->queue, waiter->key);
    task_wake(&w->wait);
}

/* get(queue): key, false; or nil, true once it is shut down and empty (W-2), as at the end of the engine:
 * what is behind the loop runs then. */
static int l_queue_get(lua_State *L)
{
    static const struct task_wait_ops ops = {push_got, drop_wait, .finishes = true};
    struct queue_box *box = class_self(L, CLASS_QUEUE, "get");
    struct workqueue *queue = box->queue->queue;
    struct str key;
    task_check(L, "queue:get");
    if (script_queue_is_past(box->queue)) return push_closed(L); /* the next generation's keys */
    if (workqueue_peek(queue, &key)) {
        push_key(L, key); /* it may raise: nothing was got yet */
        workqueue_get(queue, &key);
        processing_key_give(script_of(L), processing_key_new(queue, key));
        return 2;
    }
    if (workqueue_is_closed(queue)) return push_closed(L);
    struct queue_wait *w = new_wait(queue, on_key);
    workqueue_wait(queue, &w->waiter);
    return task_yield(L, &w->wait, &ops);
}

static int push_nothing(lua_State *L, struct task_wait *wait)
{
    return 0;
}

static void on_drained(struct workqueue_waiter *waiter)
{
    task_wake(&container_of(waiter, struct queue_wait, waiter)->wait);
}

/* drain(queue): shuts it down, and waits until its work is done (W-5). */
static int l_queue_drain(lua_State *L)
{
    static const struct task_wait_ops ops = {push_nothing, drop_wait, .finishes = false};
    struct queue_box *box = class_self(L, CLASS_QUEUE, "shut_down");
    struct workqueue *queue = box->queue->queue;
    task_check(L, "queue:shut_down with drain");
    if (script_queue_is_past(box->queue)) return 0;
    struct queue_wait *w = new_wait(queue, on_drained);
    if (workqueue_drain(queue, &w->waiter)) return task_yield(L, &w->wait, &ops);
    free(w);
    return 0;
}

static int l_queue_shut_down(lua_State *L)
{
    struct queue_box *box = class_self(L, CLASS_QUEUE, "shut_down");
    if (!script_queue_is_past(box->queue)) workqueue_shut_down(box->queue->queue);
    return 0;
}

static int l_queue_tostring(lua_State *L)
{
    struct queue_box *box = class_self(L, CLASS_QUEUE, "tostring");
    lua_pushfstring(L, "queue %s", box->queue->name);
    return 1;
}

static int l_queue_name(lua_State *L)
{
    struct queue_box *box = class_self(L, CLASS_QUEUE, "name");
    lua_pushstring(L, box->queue->name);
    return 1;
}

static const luaL_Reg queue_methods[] = {
    {"run", l_queue_run},
    {"add", l_queue_add},
    {"add_after", l_queue_add_after},
    {"add_rate_limited", l_queue_add_rate_limited},
    {"done", l_queue_done},
    {"forget", l_queue_forget},
    {"num_requeues", l_queue_num_requeues},
    {"len", l_queue_len},
    {NULL, NULL},
};

static void add_maker(lua_State *L, const char *field, const char *called)
{
    lua_pushstring(L, called);
    lua_pushcclosure(L, l_queue_new, 1);
    lua_setfield(L, -2, field);
}

static void bind_queue(lua_State *L)
{
    static const luaL_Reg meta[] = {
        {"__tostring", l_queue_tostring}, {CLASS_NAMED_BY, l_queue_name}, {NULL, NULL}};
    static const luaL_Reg verbs[] = {
        {"get", l_queue_get}, {"drain", l_queue_drain}, {"shut_down", l_queue_shut_down}, {NULL, NULL}};
    lua_newtable(L);
    luaL_register(L, NULL, verbs);
    add_maker(L, "new", "k8s.queue");
    add_maker(L, "new_of_controller", "k8s.controller");
    class_define(L, CLASS_QUEUE, "queue", meta, queue_methods);
    lua_setfield(L, -2, "methods"); /* lua/k8s/queue.lua adds its own */
    lua_setfield(L, -2, "queue");
}

const struct feature feature_queue = {.parts = {"queue"},
                                      .bind = bind_queue,
                                      .classes = CLASS_BIT(CLASS_QUEUE),
                                      .turn = queues_turn,
                                      .stop_leading = queues_stop_leading,
                                      FEATURE_OWNS(queues),
                                      .open = queues_init,
                                      .stop = queues_stop,
                                      .close = queues_clear,
                                      .claims_changed = queues_claims_changed};
