/* raw.live: readers of lists and watches. A reader is userdata that holds the read; when it is collected or
 * closed, the server hears no more of it. What came and was not taken yet waits in it: one page, or one
 * stretch of events. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "informer/live.h"
#include "script/args.h"
#include "script/bind_live.h"
#include "script/cache.h"
#include "script/push_err.h"
#include "script/task.h"
#include "script/view.h"

/* At once, for each script: a watch has a connection of its own. */
enum { LISTS_MAX = 1000, WATCHES_MAX = 100 };

struct read_wait;

struct reader {
    struct script *script;
    struct live_read *read; /* NULL: closed */
    enum live_verb verb;
    const char *name;          /* "k8s.watch" */
    bool whole;                /* a list that is gathered: what it has in all is bounded */
    bool asked;                /* an answer is under way, or here and not yet taken */
    bool answered;             /* it is here */
    bool last;                 /* and nothing follows */
    struct live_answer answer; /* its objects from `next` on were not handed out */
    size_t next, total;
    struct buf version;   /* of a list */
    struct err err;       /* why it ended; ERR_NONE for a good end */
    struct timer timeout; /* of a watch */
    struct read_wait *waiter;
};

struct read_wait {
    struct task_wait wait;
    struct reader *reader; /* NULL: collected meanwhile */
};

static unsigned *open_count(struct reader *reader)
{
    return reader->verb == LIVE_WATCH ? &reader->script->open_watches : &reader->script->open_lists;
}

static void close_read(struct reader *reader)
{
    if (!reader->read) return;
    live_close(reader->read);
    reader->read = NULL;
    timer_cancel(&reader->timeout);
    --*open_count(reader);
}

static void wake(struct reader *reader)
{
    if (reader->waiter && !reader->waiter->wait.woken) task_wake(&reader->waiter->wait);
}

static void end_reader(struct reader *reader)
{
    close_read(reader);
    for (size_t i = 0; i < reader->next; i++) reader->answer.objects[i] = NULL;
    live_answer_clear(&reader->answer);
    reader->next = 0;
    reader->answered = false;
    err_clear(&reader->err);
    wake(reader);
}

static void on_timeout(struct timer *timer)
{
    struct reader *reader = container_of(timer, struct reader, timeout);
    close_read(reader);
    wake(reader);
}

static void on_answer(void *ctx, const struct live_answer *answer)
{
    struct reader *reader = ctx;
    reader->answer = *answer;
    reader->next = 0;
    reader->answered = true;
    reader->last = answer->last;
    if (answer->err) reader->err = *answer->err;
    reader->version.len = 0;
    buf_puts(&reader->version, answer->resource_version ? answer->resource_version : "");
    wake(reader);
}

static struct reader *reader_arg(lua_State *L, int idx, const char *method)
{
    struct reader *reader = class_test(L, idx, CLASS_WATCH);
    if (!reader) reader = class_test(L, idx, CLASS_PAGES);
    if (!reader)
        script_raise(L, "watch:%s: called on %s, not on a watch (methods are called with ':')", method,
                     arg_type_name(L, idx));
    return reader;
}

/* --- making them
 * ------------------------------------------------------------------------------------------------ */

static size_t arg_count(lua_State *L, int idx, const char *verb, const char *name)
{
    enum { COUNT_MAX = 1 << 30 };
    lua_Number n = lua_tonumber(L, idx);
    if (lua_isnoneornil(L, idx)) return 0;
    if (lua_type(L, idx) != LUA_TNUMBER || !(n >= 1 && n <= COUNT_MAX) || n != floor(n))
        script_raise(L, "%s: %s must be a whole number from 1 on", verb, name);
    return (size_t)n;
}

static const char *arg_text(lua_State *L, int idx, const char *absent)
{
    const char *text = lua_tostring(L, idx);
    return text ? text : absent;
}

/* Arguments 2 to 4 of both kinds of readers; their types were checked in Lua. */
static struct lw_scope arg_scope(lua_State *L, const char *selector_name)
{
    cache_selector(L, 3, selector_name); /* a bad one is told here, not by the server */
    return (struct lw_scope){
        .namespace_ = arg_text(L, 2, script_of(L)->host->default_namespace),
        .label_selector = arg_text(L, 3, ""),
        .field_selector = arg_text(L, 4, ""),
    };
}

/* Readers that nobody holds any more are closed by the collector only. */
static void check_room(lua_State *L, const char *name, const unsigned *count, unsigned max)
{
    if (*count >= max) lua_gc(L, LUA_GCCOLLECT, 0);
    if (*count >= max) script_raise(L, "%s: more than %u at once", name, max);
}

static struct reader *push_reader(lua_State *L, enum script_class class_, enum live_verb verb,
                                  const char *name)
{
    struct reader *reader = lua_newuserdata(L, sizeof *reader);
    *reader = (struct reader){.script = script_of(L), .verb = verb, .name = name};
    reader->timeout.fn = on_timeout;
    err_clear(&reader->err);
    class_set(L, reader->script, class_);
    return reader;
}

static void start(struct reader *reader, const struct live_question *question)
{
    reader->asked = true;
    ++*open_count(reader);
    reader->read = live_start(reader->script->host->live, question, on_answer, reader);
}

/* pages(resource, ns, selector, field_selector, verb, version, match, limit, chunk_size) */
static int l_live_pages(lua_State *L)
{
    struct script *script = script_of(L);
    const char *name = arg_str(L, 5, "verb").p;
    bool whole = strcmp(name, "k8s.list") == 0;
    name = whole ? "k8s.list" : "k8s.pages"; /* a literal, which stays */
    const struct resource *resource = resource_arg(L, 1, name);
    const struct live_question question = {
        .verb = LIVE_LIST,
        .resource = resource,
        .name = "",
        .scope = arg_scope(L, whole ? "k8s.list: selector" : "k8s.pages: selector"),
        .resource_version = arg_text(L, 6, ""),
        .resource_version_match = arg_text(L, 7, ""),
        .limit = arg_count(L, 8, name, "limit"),
        .page_size = arg_count(L, 9, name, "chunk_size"),
        .whole_if_expired = whole,
    };
    check_room(L, name, &script->open_lists, LISTS_MAX);
    struct reader *reader = push_reader(L, CLASS_PAGES, LIVE_LIST, name);
    reader->whole = whole;
    start(reader, &question);
    return 1;
}

/* RW-1; and no server can begin at what is no version at all (RV-1), though one would be asked for ever. */
static const char *arg_version(lua_State *L, int idx)
{
    const char *version = arg_text(L, idx, "");
    if (*version < '1' || *version > '9' || version[strspn(version, "0123456789")])
        script_raise(L, "k8s.watch: resource_version must be that of a list or an object, not \"%.64s\"",
                     version);
    return version;
}

/* watch(resource, ns, selector, field_selector, version, timeout) */
static int l_live_watch(lua_State *L)
{
    struct script *script = script_of(L);
    bool limited = !lua_isnoneornil(L, 6);
    int64_t timeout_ms = limited ? arg_duration_ms(L, 6, "k8s.watch: timeout") : 0;
    const struct live_question question = {
        .verb = LIVE_WATCH,
        .resource = resource_arg(L, 1, "k8s.watch"),
        .name = "",
        .scope = arg_scope(L, "k8s.watch: selector"),
        .resource_version = arg_version(L, 5),
        .resource_version_match = "",
    };
    check_room(L, "k8s.watch", &script->open_watches, WATCHES_MAX);
    struct reader *reader = push_reader(L, CLASS_WATCH, LIVE_WATCH, "k8s.watch");
    start(reader, &question);
    if (limited) timer_start(&reader->timeout, script_clock(script), timeout_ms);
    return 1;
}

/* no_watch(err): one that tells this error and ends. */
static int l_live_no_watch(lua_State *L)
{
    arg_table(L, 1, "no_watch: the error");
    lua_getfield(L, 1, "code");
    lua_getfield(L, 1, "reason");
    lua_getfield(L, 1, "message");
    struct reader *reader = push_reader(L, CLASS_WATCH, LIVE_WATCH, "k8s.watch");
    err_set(&reader->err, ERR_HTTP, "%s", arg_text(L, -2, ""));
    reader->err.http_status = (int)lua_tointeger(L, -4);
    size_t room = sizeof reader->err.reason - 1;
    memcpy(reader->err.reason, arg_text(L, -3, ""), strnlen(arg_text(L, -3, ""), room));
    reader->answered = reader->last = true;
    return 1;
}

/* --- waiting for what comes next
 * -------------------------------------------------------------------------------- */

static void drop_read(struct task_wait *base)
{
    struct read_wait *wait = container_of(base, struct read_wait, wait);
    if (wait->reader) wait->reader->waiter = NULL;
    free(wait);
}

static int wait_answer(lua_State *L, struct reader *reader, const struct task_wait_ops *ops)
{
    if (reader->waiter) script_raise(L, "%s: another coroutine waits for it", reader->name);
    task_check(L, reader->name);
    struct read_wait *wait = NEW(struct read_wait);
    wait->reader = reader;
    reader->waiter = wait;
    if (!reader->asked) live_ask(reader->read);
    reader->asked = true;
    return task_yield(L, &wait->wait, ops);
}

static void push_objects(lua_State *L, const struct live_answer *answer)
{
    lua_createtable(L, (int)answer->count, 0);
    copy_mark_array(L);
    for (size_t i = 0; i < answer->count; i++) {
        view_push_object(L, answer->objects[i]);
        lua_rawseti(L, -2, (int)i + 1);
    }
}

/* The page that is here: objects, version, from_start, last. Nothing at the end; nil, err when it failed. */
static int push_page(lua_State *L, struct reader *reader)
{
    if (!reader || !reader->answered) return 0;
    reader->total = (reader->answer.from_start ? 0 : reader->total) + reader->answer.count;
    if (reader->whole && reader->total > LIVE_OBJECTS_MAX)
        err_set(&reader->err, ERR_LIMIT,
                "more than %d objects (limit value-size): give a limit, or read them by k8s.pages",
                LIVE_OBJECTS_MAX);
    if (reader->err.code != ERR_NONE) {
        int count = push_err(L, &reader->err);
        end_reader(reader);
        return count;
    }
    push_objects(L, &reader->answer);
    lua_pushstring(L, buf_text(&reader->version));
    lua_pushboolean(L, reader->answer.from_start);
    lua_pushboolean(L, reader->last);
    live_answer_clear(&reader->answer);
    reader->asked = reader->answered = false;
    if (reader->last) end_reader(reader);
    return 4;
}

static int push_page_waited(lua_State *L, struct task_wait *base)
{
    return push_page(L, container_of(base, struct read_wait, wait)->reader);
}

/* page(reader). Waits. */
static int l_live_page(lua_State *L)
{
    static const struct task_wait_ops ops = {push_page_waited, drop_read};
    struct reader *reader = reader_arg(L, 1, "page");
    if (!reader->answered && reader->read) return wait_answer(L, reader, &ops);
    return push_page(L, reader);
}

/* The next event that is here: type, object. An error is the last one. */
static int push_event(lua_State *L, struct reader *reader)
{
    static const char *const types[] = {"ADDED", "MODIFIED", "DELETED"};
    if (!reader || !reader->answered) return 0;
    struct live_answer *answer = &reader->answer;
    if (reader->next < answer->count) {
        lua_pushstring(L, types[answer->types[reader->next]]);
        view_push_object(L, answer->objects[reader->next]);
        root_unref(answer->objects[reader->next++]);
        return 2;
    }
    if (reader->err.code == ERR_NONE) return 0;
    lua_pushliteral(L, "ERROR");
    push_err_status(L, &reader->err);
    end_reader(reader);
    return 2;
}

static int push_event_waited(lua_State *L, struct task_wait *base)
{
    return push_event(L, container_of(base, struct read_wait, wait)->reader);
}

/* Hands back a stretch of events that was handed out. */
static void drop_empty(struct reader *reader)
{
    if (!reader->answered || reader->last || reader->next < reader->answer.count) return;
    reader->answer.count = reader->next = 0;
    live_answer_clear(&reader->answer);
    reader->asked = reader->answered = false;
}

/* event(reader). Waits when none is here. */
static int l_live_event(lua_State *L)
{
    static const struct task_wait_ops ops = {push_event_waited, drop_read};
    struct reader *reader = reader_arg(L, 1, "event");
    drop_empty(reader);
    if (!reader->answered && reader->read) return wait_answer(L, reader, &ops);
    return push_event(L, reader);
}

/* watch:close(): the loop over it ends. */
static int l_watch_close(lua_State *L)
{
    end_reader(reader_arg(L, 1, "close"));
    return 0;
}

static int l_reader_gc(lua_State *L)
{
    struct reader *reader = lua_touserdata(L, 1);
    if (reader->waiter) reader->waiter->reader = NULL;
    end_reader(reader);
    buf_clear(&reader->version);
    return 0;
}

static int l_watch_tostring(lua_State *L)
{
    lua_pushstring(L, "watch");
    return 1;
}

static const luaL_Reg watch_methods[] = {{"close", l_watch_close}, {NULL, NULL}};

/* Gives lua/k8s the class of watches, whose __call it makes: `for ev in watch do` calls it. */
static void define_watch(lua_State *L)
{
    static const luaL_Reg meta[] = {{"__gc", l_reader_gc}, {"__tostring", l_watch_tostring}, {NULL, NULL}};
    class_define(L, CLASS_WATCH, meta, watch_methods);
    lua_pop(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, script_of(L)->classes[CLASS_WATCH].metatable);
    lua_setfield(L, -2, "watch_class");
}

void bind_reader(lua_State *L)
{
    static const luaL_Reg meta[] = {{"__gc", l_reader_gc}, {NULL, NULL}};
    static const luaL_Reg verbs[] = {{"pages", l_live_pages},       {"watch", l_live_watch},
                                     {"no_watch", l_live_no_watch}, {"page", l_live_page},
                                     {"event", l_live_event},       {NULL, NULL}};
    class_define(L, CLASS_PAGES, meta, NULL);
    lua_pop(L, 1);
    luaL_register(L, NULL, verbs);
    define_watch(L);
}
