/* raw.repl.watch, raw.repl.change: changes of a cache for a line of a prompt. They wait for the line in a
 * list that is bounded as those of handlers are: what comes too fast is merged, object by object. */
#include <stdlib.h>

#include "base/mem.h"
#include "informer/shared/shared_factory.h"
#include "script/caches/bind_informer.h"
#include "script/caches/bind_query_rows.h"
#include "script/prompt/repl_internal.h"
#include "script/view/view.h"
#include "script/vm/args.h"
#include "script/vm/task.h"

enum { CHANGES_MARK = 1000 };

struct change_wait {
    struct task_wait wait;
    struct repl_watch *watch;
};

/* --- from the cache */

static void put(struct repl_watch *watch, const struct handler_event *event)
{
    pending_put(&watch->events, event);
    if (watch->waiting && !watch->waiting->wait.woken && pending_has_next(&watch->events))
        task_wake(&watch->waiting->wait);
}

static void on_add(void *ctx, struct root *object, const struct event_info *info)
{
    put(ctx, &(struct handler_event){.type = ON_ADD, .object = object, .info = *info});
}

static void on_update(void *ctx, struct root *old_object, struct root *new_object,
                      const struct event_info *info)
{
    put(ctx, &(struct handler_event){
                 .type = ON_UPDATE, .old_object = old_object, .object = new_object, .info = *info});
}

static void on_delete(void *ctx, struct root *last, const struct event_info *info)
{
    put(ctx, &(struct handler_event){.type = info->shard == SHARD_LOST ? ON_LOST : ON_DELETE,
                                     .old_object = info->stored,
                                     .object = last,
                                     .info = *info});
}

static bool passes(void *ctx, struct root *object)
{
    return query_matches(((const struct repl_watch *)ctx)->query, object);
}

static void let_go(struct repl_watch *watch)
{
    if (watch->taken.object) event_let_go(&watch->taken);
    watch->taken = (struct handler_event){0};
}

void repl_watch_end(struct repl *repl)
{
    struct repl_watch *watch = &repl->watch;
    if (!watch->handler) return;
    claim_remove_handler(watch->handler);
    watch->handler = NULL;
    pending_clear(&watch->events);
    let_go(watch);
    luaL_unref(repl->script->L, LUA_REGISTRYINDEX, watch->query_ref);
}

/* --- for lines */

static struct repl *repl_of(lua_State *L)
{
    return script_of(L)->own.repl;
}

/* watch(informer, query): from now on, in place of another watch. */
static int l_watch(lua_State *L)
{
    struct repl *repl = repl_of(L);
    struct repl_watch *watch = &repl->watch;
    struct informer_claim *claim = informer_arg(L, 1, "watch");
    const struct query *query = query_arg(L, 2, "watch");
    if (watch->waiting) script_raise(L, "watch: another coroutine waits for changes");
    lua_settop(L, 2);
    int ref = luaL_ref(L, LUA_REGISTRYINDEX);
    repl_watch_end(repl);
    pending_init(&watch->events, CHANGES_MARK, PENDING_JOIN_ALL, false);
    watch->query = query;
    watch->query_ref = ref;
    watch->handler = claim_add_handler(claim, &(struct event_handler){.on_add = on_add,
                                                                      .on_update = on_update,
                                                                      .on_delete = on_delete,
                                                                      .ctx = watch,
                                                                      .passes = passes,
                                                                      .from_now_on = true});
    return 0;
}

/* Pushes "add", "update" or "delete", and the object; nothing when no change is there. */
static int push_next(lua_State *L, struct repl_watch *watch)
{
    static const char *const names[] = {
        [ON_ADD] = "add", [ON_UPDATE] = "update", [ON_DELETE] = "delete", [ON_LOST] = "lost"};
    let_go(watch);
    if (!watch->handler || !pending_take(&watch->events, &watch->taken)) return 0;
    lua_pushstring(L, names[watch->taken.type]);
    view_push_object(L, watch->taken.object);
    return 2;
}

static int push_change(lua_State *L, struct task_wait *wait)
{
    return push_next(L, container_of(wait, struct change_wait, wait)->watch);
}

static void drop_change(struct task_wait *wait)
{
    struct change_wait *w = container_of(wait, struct change_wait, wait);
    w->watch->waiting = NULL;
    free(w);
}

/* change(now): the next one; waits for it unless `now`. */
static int l_change(lua_State *L)
{
    static const struct task_wait_ops ops = {push_change, drop_change, .finishes = false};
    struct repl_watch *watch = &repl_of(L)->watch;
    if (lua_toboolean(L, 1) || !watch->handler || pending_has_next(&watch->events))
        return push_next(L, watch);
    if (watch->waiting) script_raise(L, "watch: another coroutine waits for changes");
    task_check(L, "watch");
    struct change_wait *w = NEW(struct change_wait);
    w->watch = watch;
    watch->waiting = w;
    return task_yield(L, &w->wait, &ops);
}

void bind_repl_watch(lua_State *L)
{
    static const luaL_Reg verbs[] = {{"watch", l_watch}, {"change", l_change}, {NULL, NULL}};
    luaL_register(L, NULL, verbs);
}
