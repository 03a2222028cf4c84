/* States in ConfigMaps; see state_maps.h. An operation is a row of requests: the ConfigMap is read unless it
 * is known, with the state as it was left, then written; what is read to be written later is given another
 * version at once, or made. If the server says that it has changed, it is read again: where only other keys
 * or labels differ, the write is repeated. */
#include "engine/state_maps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/state_maps_internal.h"
#include "object/value/value.h"

/* TRIES: of a write, with a look at what has changed before each. */
enum { TRIES = 5, ASIDE_MAX = 100 };

static struct state_maps *of(struct state_store *store)
{
    return container_of(store, struct state_maps, base);
}

/* --- the end of an operation */

static void finish(struct state_maps *maps, bool ok)
{
    struct state_op *op = maps->op;
    const char *name = maps->op->slot->place;
    op->ok = ok;
    if (!op->where) op->where = xasprintf("configmaps %s/" STATE_MAP_PREFIX "%s", maps->namespace_, name);
    maps->op = NULL;
    buf_clear(&maps->value);
    state_op_end(op);
}

static void fail(struct state_maps *maps, const struct err *err)
{
    maps->op->err = *err;
    finish(maps, false);
}

/* Returns whether the operation may still change something; ends it otherwise. */
static bool may_change(struct state_maps *maps)
{
    struct err err;
    const struct state_op *op = maps->op;
    if (op->fence && !fence_is_open(op->fence)) {
        state_op_refuse_fence(maps->op);
        finish(maps, false);
        return false;
    }
    if (maps->tries++ < TRIES) return true;
    err_set(&err, ERR_IO, "the ConfigMap changes all the time");
    fail(maps, &err);
    return false;
}

/* --- decisions */

static bool has_room(const struct state_maps *maps, const struct state_map *map, struct err *err)
{
    size_t others = state_map_others(map, maps->op->slot->state);
    if (others + maps->op->bytes.len <= STATE_MAP_MAX) return true;
    return err_set(err, ERR_LIMIT,
                   "k8s.state: %s: %zu bytes, with %zu of other states of the script, exceed %d, "
                   "the limit of keep = \"configmap\"",
                   maps->op->slot->state, maps->op->bytes.len, others, STATE_MAP_MAX);
}

/* Returns whether the state, as it was last seen, is what it was, or what an earlier try of ours may have
 * made it. */
static bool is_still(struct state_maps *maps)
{
    const char *sum = state_map_sum(state_maps_of(maps), maps->op->slot->state);
    if (strcmp(sum, maps->op->mark) == 0) return true;
    return *sum && state_tries_find(&maps->tried, maps->op, sum);
}

/* Likewise, whether an earlier try has moved the state. */
static bool is_moved(struct state_maps *maps)
{
    const struct state_try *tried = state_tries_find(&maps->tried, maps->op, "");
    if (maps->op->kind != STATE_MOVE_ASIDE || maps->has_value || !tried) return false;
    maps->aside = tried->aside;
    return true;
}

static void end_read(struct state_maps *maps)
{
    struct state_op *op = maps->op;
    op->mark[0] = '\0';
    op->found = maps->has_value;
    if (op->found) hash_lasting(buf_slice(&maps->value), op->mark);
    buf_str(&op->bytes, buf_slice(&maps->value));
    finish(maps, true);
}

/* The ConfigMap has it, as it was last seen. */
static void end_change(struct state_maps *maps)
{
    struct state_op *op = maps->op;
    const struct state_map *map = state_maps_of(maps);
    state_tries_forget(&maps->tried, maps->op);
    snprintf(op->mark, sizeof op->mark, "%s", state_map_sum(map, op->slot->state));
    if (op->kind == STATE_MOVE_ASIDE)
        op->where = xasprintf("configmaps %s/" STATE_MAP_PREFIX "%s-aside-%d", maps->namespace_, map->place,
                              maps->aside);
    finish(maps, true);
}

static void go(struct state_maps *maps)
{
    struct err err;
    if (!may_change(maps)) return;
    if (maps->op->kind == STATE_MOVE_ASIDE && !maps->is_copied)
        state_maps_copy(maps);
    else if (maps->op->kind == STATE_WRITE && !has_room(maps, state_maps_of(maps), &err))
        fail(maps, &err);
    else
        state_maps_put(maps);
}

static void note_map(struct state_maps *maps, const struct object_response *response)
{
    maps->value.len = 0;
    maps->has_value = state_map_see(state_maps_of(maps), response->object, maps->step == MAP_TAKE,
                                    maps->op->slot->state, &maps->value);
}

static void on_got(struct state_maps *maps, const struct object_response *response)
{
    note_map(maps, response);
    if (maps->op->kind == STATE_TAKE && !state_maps_of(maps)->is_own) {
        if (may_change(maps)) state_maps_take(maps);
    } else if (state_op_reads(maps->op->kind)) {
        end_read(maps);
    } else if (is_moved(maps)) {
        end_change(maps);
    } else if (is_still(maps)) {
        /* It was refused before the read, as it named another version. A request is sent again where its
         * connection has ended, and may be refused for what it did itself: then the state is what it made. */
        const char *sum = state_map_sum(state_maps_of(maps), maps->op->slot->state);
        if (!state_tries_find(&maps->tried, maps->op, sum)) state_tries_forget_refused(&maps->tried);
        go(maps);
    } else {
        char where[NAME_ROOM];
        snprintf(where, sizeof where, STATE_MAP_PREFIX "%s", maps->op->slot->place);
        state_op_refuse_change(maps->op, where);
        finish(maps, false);
    }
}

static void on_taken(struct state_maps *maps, const struct object_response *response)
{
    if (response->object)
        note_map(maps, response);
    else
        state_map_forget(state_maps_of(maps));
    end_read(maps);
}

static void on_put(struct state_maps *maps, const struct object_response *response)
{
    const struct state_op *op = maps->op;
    struct text text;
    struct str version = response->object ? root_resource_version(response->object, &text) : (struct str){0};
    state_map_wrote(state_maps_of(maps), version, op->slot->state,
                    op->kind == STATE_MOVE_ASIDE ? (struct str){0} : buf_slice(&op->bytes));
    end_change(maps);
}

/* Another one has changed it, or there is none, or there is one. A new one that is not found lacks its
 * namespace. */
static bool is_outdated(struct state_maps *maps, const struct err *err)
{
    return err->http_status == 409 || (err->http_status == 404 && state_maps_of(maps)->version);
}

/* The server will say the same of each such request, until somebody changes rights or rules. */
static bool is_denied(const struct err *err)
{
    static const int passing[] = {401, 408, 425, 429};
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
        if (err->http_status == passing[i]) return false;
    return err->http_status / 100 == 4;
}

static void on_refused(struct state_maps *maps, const struct err *err)
{
    bool is_take = maps->step == MAP_TAKE;
    bool is_absent = maps->step == MAP_GET && err->http_status == 404;
    if (is_absent) {
        on_got(maps, &(const struct object_response){0});
    } else if (maps->step == MAP_COPY && err->http_status == 409 && maps->aside++ < ASIDE_MAX) {
        state_maps_copy(maps);
    } else if ((is_take || maps->step == MAP_PUT) && is_outdated(maps, err)) {
        state_maps_send(maps, MAP_GET, OBJECT_GET, NULL);
    } else if (is_take && is_denied(err)) {
        end_read(maps); /* of what was read: that it cannot be written is told by a write */
    } else {
        /* Of a take, too: what was on its way may still come, so it is no read yet. Whoever reads tries again
         * later, after the operations of others. */
        if (maps->step == MAP_PUT && is_denied(err)) state_tries_forget_refused(&maps->tried);
        state_map_forget(state_maps_of(maps));
        fail(maps, err);
    }
}

static void on_response(void *ctx, const struct object_response *response)
{
    struct state_maps *maps = ctx;
    live_close(maps->call);
    maps->call = NULL;
    if (response->err)
        on_refused(maps, response->err);
    else if (maps->step == MAP_GET)
        on_got(maps, response);
    else if (maps->step == MAP_TAKE)
        on_taken(maps, response);
    else if (maps->step == MAP_PUT)
        on_put(maps, response);
    else {
        maps->is_copied = true;
        state_maps_put(maps);
    }
    if (response->object) root_unref(response->object);
}

static void run(struct state_store *store, struct state_op *op)
{
    struct state_maps *maps = of(store);
    maps->op = op;
    maps->tries = 0;
    state_tries_begin(&maps->tried);
    maps->aside = 1;
    maps->has_value = maps->is_copied = false;
    if (op->kind == STATE_WRITE && state_maps_of(maps)->is_known && is_still(maps))
        go(maps);
    else
        state_maps_send(maps, MAP_GET, OBJECT_GET, NULL);
}

/* --- life */

static void free_maps(struct state_store *store)
{
    struct state_maps *maps = of(store);
    if (maps->call) live_close(maps->call);
    for (const struct state_op *op = TAILQ_FIRST(&store->ops); op; op = TAILQ_NEXT(op, link))
        if (op->kind == STATE_WRITE)
            log_warn("State may not be stored, the engine has ended", F("script", op->slot->place),
                     F("state", op->slot->state));
    state_store_clear(store);
    for (size_t i = 0; i < maps->map_count; i++) state_map_clear(&maps->maps[i]);
    free(maps->maps);
    state_tries_clear(&maps->tried);
    free(maps->namespace_);
    free(maps->field_manager);
    buf_clear(&maps->value);
    free(maps);
}

struct state_store *state_maps_new(const struct state_maps_options *options)
{
    struct state_maps *maps = NEW(struct state_maps);
    *maps = (struct state_maps){
        .base = {.keep = "configmap", .max = STATE_MAP_MAX, .run = run, .free = free_maps},
        .live = options->live,
        .on_response = on_response,
        .clock = options->clock,
        .namespace_ = xstrdup(options->namespace_),
        .field_manager = xstrdup(options->field_manager ? options->field_manager : "kubelua")};
    state_store_init(&maps->base);
    return &maps->base;
}
