/* Input of readers, and the calls that wait for it; see reader.h. */
#include "script/server/reader.h"

#include <stdlib.h>

#include "base/mem.h"
#include "kube/kinds/kinds.h"
#include "script/server/declared.h"
#include "script/view/view.h"
#include "script/vm/args.h"
#include "script/vm/task.h"

struct read_wait {
    struct task_wait wait;
    struct reader *reader; /* NULL: collected meanwhile */
};

static unsigned *open_count(struct reader *reader)
{
    return reader->verb == LIVE_LIST ? &reader->script->own.reads->open_lists
                                     : &reader->script->own.reads->open_watches;
}

static void close_read(struct reader *reader)
{
    if (!reader->read) return;
    live_close(reader->read);
    reader->read = NULL;
    timer_cancel(&reader->timeout);
    --*open_count(reader);
    cluster_let_go(reader->cluster);
    reader->cluster = NULL;
}

static void wake(struct reader *reader)
{
    if (reader->waiter && !reader->waiter->wait.woken) task_wake(&reader->waiter->wait);
}

void reader_end(struct reader *reader)
{
    close_read(reader);
    for (size_t i = 0; i < reader->next && reader->response.objects; i++) reader->response.objects[i] = NULL;
    live_response_clear(&reader->response);
    reader->next = reader->text.len = 0;
    reader->responded = false;
    err_clear(&reader->err);
    wake(reader);
}

void reader_clear(struct reader *reader)
{
    if (reader->waiter) reader->waiter->reader = NULL;
    reader_end(reader);
    cluster_let_go(reader->cluster);
    reader->cluster = NULL;
    buf_clear(&reader->version);
    buf_clear(&reader->text);
}

void reader_on_timeout(struct timer *timer)
{
    struct reader *reader = container_of(timer, struct reader, timeout);
    close_read(reader);
    wake(reader);
}

static void on_response(void *ctx, const struct live_response *response)
{
    struct reader *reader = ctx;
    reader->response = *response;
    if (reader->verb != LIVE_TEXT) reader->next = 0;
    reader->responded = true;
    reader->last = response->last;
    if (response->err) reader->err = *response->err;
    reader->version.len = 0;
    buf_puts(&reader->version, response->resource_version ? response->resource_version : "");
    wake(reader);
}

struct reader *reader_arg(lua_State *L, int idx, const char *method)
{
    struct reader *reader = class_test(L, idx, CLASS_WATCH);
    if (!reader) reader = class_test(L, idx, CLASS_PAGES);
    if (!reader)
        script_raise(L, "watch:%s: called on %s, not on a watch (methods are called with ':')", method,
                     arg_type_name(L, idx));
    return reader;
}

void reader_start(struct reader *reader, const struct live_request *request)
{
    reader->is_requested = true;
    ++*open_count(reader);
    reader->read = live_start(reader->cluster->live, request, on_response, reader);
}

/* --- waiting for what comes next */

struct reader *reader_of_wait(struct task_wait *base)
{
    return container_of(base, struct read_wait, wait)->reader;
}

void reader_drop_wait(struct task_wait *base)
{
    struct read_wait *wait = container_of(base, struct read_wait, wait);
    if (wait->reader) wait->reader->waiter = NULL;
    free(wait);
}

int reader_wait(lua_State *L, struct reader *reader, const struct task_wait_ops *ops)
{
    if (reader->waiter) script_raise(L, "%s: another coroutine is already waiting", reader->name);
    task_check(L, reader->name);
    struct read_wait *wait = NEW(struct read_wait);
    wait->reader = reader;
    reader->waiter = wait;
    if (!reader->is_requested) live_next(reader->read);
    reader->is_requested = true;
    return task_yield(L, &wait->wait, ops);
}

/* The page before may be garbage by now. */
static void push_objects(lua_State *L, const struct live_response *response)
{
    view_note_dead(L, response->count);
    lua_createtable(L, (int)response->count, 0);
    copy_mark_array(L);
    for (size_t i = 0; i < response->count; i++) {
        view_push_fetched(L, response->objects[i]);
        lua_rawseti(L, -2, (int)i + 1);
    }
}

/* The page that is here: objects, version, from_start, last. Nothing at the end; nil, err when it failed. */
static int push_page(lua_State *L, struct reader *reader)
{
    if (!reader || !reader->responded) return 0;
    reader->total = (reader->response.from_start ? 0 : reader->total) + reader->response.count;
    if (reader->whole && reader->total > LIVE_OBJECTS_MAX)
        err_set(&reader->err, ERR_LIMIT,
                "more than %d objects (limit value-size): set a limit, or use k8s.pages", LIVE_OBJECTS_MAX);
    if (reader->err.code != ERR_NONE) {
        if (reader->err.http_status == 404) kinds_invalidate(reader->cluster->kinds); /* the kind is gone */
        int count = push_err(L, &reader->err);
        reader_end(reader);
        return count;
    }
    push_objects(L, &reader->response);
    lua_pushstring(L, buf_text(&reader->version));
    lua_pushboolean(L, reader->response.from_start);
    lua_pushboolean(L, reader->last);
    live_response_clear(&reader->response);
    reader->is_requested = reader->responded = false;
    if (reader->last) reader_end(reader);
    return 4;
}

static int push_page_waited(lua_State *L, struct task_wait *base)
{
    return push_page(L, reader_of_wait(base));
}

/* page(reader). Waits. */
int reader_page(lua_State *L)
{
    static const struct task_wait_ops ops = {push_page_waited, reader_drop_wait, .finishes = true};
    struct reader *reader = reader_arg(L, 1, "page");
    if (!reader->responded && reader->read) return reader_wait(L, reader, &ops);
    return push_page(L, reader);
}

/* The next event that is here: type, object. An error is the last one. */
static int push_event(lua_State *L, struct reader *reader)
{
    static const char *const types[] = {"ADDED", "MODIFIED", "DELETED"};
    if (!reader || !reader->responded) return 0;
    struct live_response *response = &reader->response;
    if (reader->next < response->count) {
        view_note_dead(L, 1);
        lua_pushstring(L, types[response->types[reader->next]]);
        view_push_fetched(L, response->objects[reader->next]);
        root_unref(response->objects[reader->next++]);
        return 2;
    }
    if (reader->err.code == ERR_NONE) return 0;
    lua_pushliteral(L, "ERROR");
    push_err_status(L, &reader->err);
    reader_end(reader);
    return 2;
}

static int push_event_waited(lua_State *L, struct task_wait *base)
{
    return push_event(L, reader_of_wait(base));
}

/* Hands back a stretch of events that was handed out. */
static void drop_empty(struct reader *reader)
{
    if (!reader->responded || reader->last || reader->next < reader->response.count) return;
    reader->response.count = reader->next = 0;
    live_response_clear(&reader->response);
    reader->is_requested = reader->responded = false;
}

/* event(reader). Waits when none is here. */
int reader_event(lua_State *L)
{
    static const struct task_wait_ops ops = {push_event_waited, reader_drop_wait, .finishes = false};
    struct reader *reader = reader_arg(L, 1, "event");
    drop_empty(reader);
    if (!reader->responded && reader->read) return reader_wait(L, reader, &ops);
    return push_event(L, reader);
}
