/* States in ConfigMaps; see state_maps.h. An operation is a row of requests: the ConfigMap is read unless it
 * is known, with the state as it was left, then written; what is read to be written later is given another
 * version at once, or made. If the server says that it has changed, it is read again: where only other keys
 * or labels differ, the write is repeated. */
#include "engine/state_maps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/state_map.h"
#include "engine/state_map_body.h"
#include "engine/state_tries.h"
#include "kube/kinds/resource.h"
#include "object/value/value.h"

/* TIMEOUT_MS: of a request. TRIES: of a write, with a look at what has changed before each. */
enum { TIMEOUT_MS = 10000, TRIES = 5, ASIDE_MAX = 100, NAME_ROOM = STATE_PLACE_MAX + 40 };

enum map_step { MAP_GET, MAP_TAKE, MAP_PUT, MAP_COPY };

struct state_maps {
    struct state_store base;
    struct live_client *live;
    struct clock *clock;
    char *namespace_, *field_manager;
    struct state_map *maps;
    size_t map_count;
    struct state_tries tried;
    /* Of the operation in progress. */
    struct state_op *op;
    struct live_read *call;
    enum map_step step;
    int tries, aside;
    struct buf value; /* of the state, as it was read */
    bool has_value, is_copied;
};

static char no_group[] = "", v1[] = "v1", plural[] = "configmaps", kind[] = "ConfigMap";
static const struct resource configmaps = {no_group, v1, plural, kind, SCOPE_NAMESPACED};

static struct state_maps *of(struct state_store *store)
{
    return container_of(store, struct state_maps, base);
}

static struct state_map *map_of(struct state_maps *maps)
{
    for (size_t i = 0; i < maps->map_count; i++)
        if (strcmp(maps->maps[i].place, maps->op->slot->place) == 0) return &maps->maps[i];
    struct state_map *map = array_add(maps->maps, maps->map_count);
    *map = (struct state_map){.place = xstrdup(maps->op->slot->place)};
    return map;
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

/* --- requests */

static void on_response(void *ctx, const struct object_response *response);

static void send(struct state_maps *maps, enum map_step step, enum object_verb verb, struct buf *body)
{
    char name[NAME_ROOM];
    bool is_aside = step == MAP_COPY;
    if (is_aside)
        snprintf(name, sizeof name, STATE_MAP_PREFIX "%s-aside-%d", maps->op->slot->place, maps->aside);
    else
        snprintf(name, sizeof name, STATE_MAP_PREFIX "%s", maps->op->slot->place);
    const struct object_request request = {
        .verb = verb,
        .place = {.resource = &configmaps, .namespace_ = maps->namespace_, .name = name},
        .body = body ? buf_slice(body) : (struct str){0},
        .patch_type = verb == OBJECT_PATCH ? "application/merge-patch+json" : NULL,
        .manager = verb == OBJECT_GET ? NULL : maps->field_manager,
        .timeout_ms = TIMEOUT_MS,
        .urgent = true,
        .fence = step == MAP_GET ? NULL : maps->op->fence};
    maps->step = step;
    maps->call = live_call(maps->live, &request, on_response, maps);
    if (body) buf_clear(body);
}

static void put(struct state_maps *maps)
{
    struct buf body = {0};
    const struct state_map *map = map_of(maps);
    const struct state_op *op = maps->op;
    struct map_body of_map = {.place = map->place,
                              .version = map->version,
                              .state = op->slot->state,
                              .bytes = buf_slice(&op->bytes),
                              .removes = op->kind == STATE_MOVE_ASIDE};
    map_body_write(&of_map, &body);
    state_tries_note(&maps->tried, maps->op, maps->aside);
    send(maps, MAP_PUT, map->version ? OBJECT_PATCH : OBJECT_CREATE, &body);
}

/* Stores the value under another name, before it goes. */
static void copy(struct state_maps *maps)
{
    struct buf body = {0};
    char place[NAME_ROOM];
    snprintf(place, sizeof place, "%s-aside-%d", maps->op->slot->place, maps->aside);
    const struct map_body of_map = {
        .place = place, .state = maps->op->slot->state, .bytes = buf_slice(&maps->value)};
    map_body_write(&of_map, &body);
    send(maps, MAP_COPY, OBJECT_CREATE, &body);
}

/* A process that was killed may have left a write on its way, perhaps the first one. */
static void take(struct state_maps *maps)
{
    char reader[64];
    struct buf body = {0};
    const struct state_map *map = map_of(maps);
    const struct map_body of_map = {.place = map->place, .version = map->version, .reader = reader};
    if (!may_change(maps)) return;
    snprintf(reader, sizeof reader, "%" PRId64 "-%ld", clock_wall_us(maps->clock), (long)getpid());
    map_body_write(&of_map, &body);
    send(maps, MAP_TAKE, map->version ? OBJECT_PATCH : OBJECT_CREATE, &body);
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
    const char *sum = state_map_sum(map_of(maps), maps->op->slot->state);
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
    const struct state_map *map = map_of(maps);
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
        copy(maps);
    else if (maps->op->kind == STATE_WRITE && !has_room(maps, map_of(maps), &err))
        fail(maps, &err);
    else
        put(maps);
}

static void note_map(struct state_maps *maps, const struct object_response *response)
{
    maps->value.len = 0;
    maps->has_value = state_map_see(map_of(maps), response->object, maps->step == MAP_TAKE,
                                    maps->op->slot->state, &maps->value);
}

static void on_got(struct state_maps *maps, const struct object_response *response)
{
    note_map(maps, response);
    if (maps->op->kind == STATE_TAKE && !map_of(maps)->is_own) {
        take(maps);
    } else if (state_op_reads(maps->op->kind)) {
        end_read(maps);
    } else if (is_moved(maps)) {
        end_change(maps);
    } else if (is_still(maps)) {
        /* It was refused before the read, as it named another version. A request is sent again where its
         * connection has ended, and may be refused for what it did itself: then the state is what it made. */
        const char *sum = state_map_sum(map_of(maps), maps->op->slot->state);
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
        state_map_forget(map_of(maps));
    end_read(maps);
}

static void on_put(struct state_maps *maps, const struct object_response *response)
{
    const struct state_op *op = maps->op;
    struct text text;
    struct str version = response->object ? root_resource_version(response->object, &text) : (struct str){0};
    state_map_wrote(map_of(maps), version, op->slot->state,
                    op->kind == STATE_MOVE_ASIDE ? (struct str){0} : buf_slice(&op->bytes));
    end_change(maps);
}

/* Another one has changed it, or there is none, or there is one. A new one that is not found lacks its
 * namespace. */
static bool is_outdated(struct state_maps *maps, const struct err *err)
{
    return err->http_status == 409 || (err->http_status == 404 && map_of(maps)->version);
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
        copy(maps);
    } else if ((is_take || maps->step == MAP_PUT) && is_outdated(maps, err)) {
        send(maps, MAP_GET, OBJECT_GET, NULL);
    } else if (is_take && is_denied(err)) {
        end_read(maps); /* of what was read: that it cannot be written is told by a write */
    } else {
        /* Of a take, too: what was on its way may still come, so it is no read yet. Whoever reads tries again
         * later, after the operations of others. */
        if (maps->step == MAP_PUT && is_denied(err)) state_tries_forget_refused(&maps->tried);
        state_map_forget(map_of(maps));
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
        put(maps);
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
    if (op->kind == STATE_WRITE && map_of(maps)->is_known && is_still(maps))
        go(maps);
    else
        send(maps, MAP_GET, OBJECT_GET, NULL);
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
        .clock = options->clock,
        .namespace_ = xstrdup(options->namespace_),
        .field_manager = xstrdup(options->field_manager ? options->field_manager : "kubelua")};
    state_store_init(&maps->base);
    return &maps->base;
}
