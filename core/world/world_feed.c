/* Changes of the server's objects for Lua; see world_internal.h. It reads the histories that watches read, so
 * a world that is slow loses nothing: what was forgotten meanwhile is listed again. */
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/must.h"
#include "tool/tool.h"
#include "world/world_internal.h"

/* A change that was taken, with a reference to its object. */
struct taken {
    struct world_watch *watch;
    const char *type;
    struct sim_object *object; /* NULL of what concerns the resource */
};

struct taken_list {
    struct taken *items;
    size_t count;
};

static void add(struct taken_list *list, struct world_watch *watch, const char *type,
                struct sim_object *object)
{
    if (object) sim_object_ref(object);
    *array_add(list->items, list->count) = (struct taken){watch, type, object};
}

/* Takes all objects anew: what was known before and does not come again is gone. */
static void take_list(struct world_watch *watch, struct taken_list *list)
{
    struct sim_resource *resource = watch->watcher.resource;
    struct omap_cursor cursor;
    struct sim_object *object;
    add(list, watch, "LIST", NULL);
    omap_seek(&cursor, resource->map, "");
    while ((object = omap_next(&cursor))) add(list, watch, "ADDED", object);
    add(list, watch, "LISTED", NULL);
    watch->watcher.next = resource->history.next;
}

static void take_events(struct world_watch *watch, struct taken_list *list)
{
    static const char *const types[] = {
        [SIM_ADDED] = "ADDED", [SIM_MODIFIED] = "MODIFIED", [SIM_DELETED] = "DELETED"};
    const struct sim_history *history = &watch->watcher.resource->history;
    const struct sim_event *event;
    if (watch->watcher.next < history->first) {
        take_list(watch, list);
        return;
    }
    while ((event = sim_history_at(history, watch->watcher.next))) {
        add(list, watch, types[event->type], event->object);
        watch->watcher.next++;
    }
}

/* Watches the resources that are new; with the store's lock. All are named before the first of their objects
 * comes, which may be of interest to a controller of another one. */
static void join(struct world_feed *feed, struct taken_list *list)
{
    struct sim_resource *newest = feed->api->store->resources;
    struct world_watch *known = feed->watches;
    for (struct sim_resource *r = newest; r != feed->known; r = r->next) {
        struct world_watch *watch = NEW(struct world_watch);
        watch->resource = LUA_NOREF;
        watch->watcher.wake_fd = feed->fd;
        STAILQ_INIT(&watch->watcher.actions);
        sim_watcher_join(&watch->watcher, r, r->history.next);
        watch->next = feed->watches;
        feed->watches = watch;
        add(list, watch, "RESOURCE", NULL);
    }
    for (struct world_watch *w = feed->watches; w != known; w = w->next)
        if (w->watcher.resource->map) take_list(w, list);
    feed->known = newest;
}

static void push_text(lua_State *L, const char *name, const char *text)
{
    lua_pushstring(L, text);
    lua_setfield(L, -2, name);
}

/* Keeps a table that says what the resource is. */
static void describe(lua_State *L, struct world_watch *watch)
{
    const struct sim_kind *kind = watch->watcher.resource->kind;
    char *id = sim_qualified_resource(kind);
    lua_newtable(L);
    push_text(L, "id", id);
    push_text(L, "group", kind->group);
    push_text(L, "version", kind->version);
    push_text(L, "plural", kind->plural);
    push_text(L, "kind", kind->kind);
    lua_pushboolean(L, kind->namespaced);
    lua_setfield(L, -2, "namespaced");
    watch->resource = luaL_ref(L, LUA_REGISTRYINDEX);
    free(id);
}

/* Pushes the object, or its metadata alone. */
static void push_object(struct world_feed *feed, lua_State *L, const struct taken *taken)
{
    const struct sim_object *object = taken->object;
    struct str text = {object->text, object->len};
    struct buf padded = {0};
    struct tape tape;
    struct err err;
    if (!taken->watch->is_whole) {
        text = sim_object_slice(object, object->metadata);
        lua_newtable(L);
    }
    buf_str(&padded, text);
    memset(buf_reserve(&padded, TAPE_PADDING), 0, TAPE_PADDING);
    must(tape_parse(feed->parser, padded.data, text.n, &tape, &err)); /* the store has valid JSON only */
    world_json_push(L, &tape, tape_root(&tape));
    if (!taken->watch->is_whole) lua_setfield(L, -2, "metadata");
    buf_clear(&padded);
}

/* Calls `fn`, which raises nothing, with the type, the resource and the object. */
static void deliver(struct world_feed *feed, lua_State *L, int fn, const struct taken *taken)
{
    if (taken->watch->resource == LUA_NOREF) describe(L, taken->watch);
    lua_pushvalue(L, fn);
    lua_pushstring(L, taken->type);
    lua_rawgeti(L, LUA_REGISTRYINDEX, taken->watch->resource);
    if (taken->object)
        push_object(feed, L, taken);
    else
        lua_pushnil(L);
    lua_call(L, 3, 0);
    if (taken->object) return;
    lua_rawgeti(L, LUA_REGISTRYINDEX, taken->watch->resource);
    lua_getfield(L, -1, "whole");
    taken->watch->is_whole = lua_toboolean(L, -1);
    lua_pop(L, 2);
}

static void release(struct world_feed *feed, struct taken_list *list)
{
    sim_store_lock(feed->api->store);
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].object) sim_object_unref(list->items[i].object);
    sim_store_unlock(feed->api->store);
    free(list->items);
}

void world_feed_begin(struct world_feed *feed, struct sim_api *api)
{
    feed->api = api;
    feed->parser = tape_parser_new();
    feed->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    must(feed->fd >= 0);
}

size_t world_feed_take(struct world_feed *feed, lua_State *L, int fn, bool sleeps)
{
    struct taken_list list = {0};
    eventfd_t count;
    if (!feed->api) return 0;
    (void)eventfd_read(feed->fd, &count); /* before the look, so that what comes behind it is written again */
    sim_store_lock(feed->api->store);
    join(feed, &list);
    for (struct world_watch *w = feed->watches; w; w = w->next) take_events(w, &list);
    for (struct world_watch *w = feed->watches; w; w = w->next) w->watcher.asleep = sleeps && list.count == 0;
    sim_store_unlock(feed->api->store);
    for (size_t i = 0; i < list.count; i++) deliver(feed, L, fn, &list.items[i]);
    release(feed, &list);
    return list.count;
}

void world_feed_end(struct world_feed *feed)
{
    if (!feed->api) return;
    sim_store_lock(feed->api->store);
    for (struct world_watch *w = feed->watches; w; w = w->next) sim_watcher_leave(&w->watcher);
    sim_store_unlock(feed->api->store);
    for (struct world_watch *w = feed->watches, *next; w; w = next) {
        next = w->next;
        free(w);
    }
    tape_parser_free(feed->parser);
    close(feed->fd);
    *feed = (struct world_feed){.fd = -1};
}
