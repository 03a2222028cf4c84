/* Requests of a member: Leases and the table by the object caller, a list of the group's Leases by a source;
 * see shards_internal.h. One try each, as the member decides when to try again, and none that other requests
 * hold up. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "informer/group/shards_internal.h"
#include "object/value/value.h"

/* TCP declares a peer dead that has acknowledged nothing for 15 s (T-3); longer than that. */
enum { ALONE_MS = 20000 };

const struct resource shards_leases = {.group = (char *)"coordination.k8s.io",
                                       .version = (char *)"v1",
                                       .plural = (char *)"leases",
                                       .kind = (char *)"Lease",
                                       .namespaced = true};
const struct resource shards_maps = {.group = (char *)"",
                                     .version = (char *)"v1",
                                     .plural = (char *)"configmaps",
                                     .kind = (char *)"ConfigMap",
                                     .namespaced = true};

static struct clock *line_clock(const struct shards_line *line)
{
    return loop_clock(line->shards->options.io_loop);
}

struct str shards_table_of(const struct root *map, struct text *text)
{
    struct value data = value_field(root_value(map), STR("data"));
    struct str table = value_str(value_field(data, STR("table")), text);
    return table.n ? table : STR("?"); /* not a table, but not absent either */
}

/* --- responses */

static void clear_response(struct shards_line *line)
{
    free(line->leases);
    line->leases = NULL;
    line->count = 0;
    line->table.len = line->version.len = 0;
}

/* A request without a response may have met a dead connection (L-3). */
static void avoid_connection(struct shards_line *line)
{
    line->alone_until_ms = clock_now_ms(line_clock(line)) + ALONE_MS;
}

static void respond(struct shards_line *line, const struct err *err)
{
    const struct shard_response response = {.err = err,
                                            .leases = line->leases,
                                            .count = line->count,
                                            .table = buf_slice(&line->table),
                                            .version = buf_text(&line->version)};
    /* The next request may be sent from in here. */
    struct shards_line kept = {.leases = line->leases, .table = line->table, .version = line->version};
    line->leases = NULL;
    line->table = line->version = (struct buf){0};
    line->done(line->done_ctx, &response);
    free(kept.leases);
    buf_clear(&kept.table);
    buf_clear(&kept.version);
}

static bool is_of_table(enum shard_verb verb)
{
    return verb == SHARD_TABLE_GET || verb == SHARD_TABLE_CREATE || verb == SHARD_TABLE_UPDATE;
}

static void take_object(struct shards_line *line, const struct root *object)
{
    struct text text;
    if (is_of_table(line->verb)) {
        buf_str(&line->table, shards_table_of(object, &text));
        buf_str(&line->version, root_resource_version(object, &text));
        return;
    }
    shards_lease_read(object, array_add(line->leases, line->count));
    /* A response to a write may have no name. */
    snprintf(line->leases[0].name, SHARD_NAME_MAX, "%s", line->name);
}

static void on_object(void *ctx, const struct object_response *response)
{
    struct shards_line *line = ctx;
    const struct err *err = response->err;
    struct err none;
    line->call = NULL;
    clear_response(line);
    if (err && err->code == ERR_TIMEOUT) avoid_connection(line);
    if (!err && response->object) take_object(line, response->object);
    if (!err && !response->object && line->verb != SHARD_LEASE_DELETE) {
        err_set(&none, ERR_PARSE, "the server returned no object");
        err = &none;
    }
    respond(line, err);
    root_unref(response->object);
}

/* --- the list of Leases */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct shard_lease *)a)->name, ((const struct shard_lease *)b)->name);
}

static void on_free_source(struct timer *timer)
{
    struct shards_line *line = container_of(timer, struct shards_line, free_source);
    if (line->ended) line->ended->ops->free(line->ended);
    line->ended = NULL;
}

/* The source is freed outside of its callbacks; one list at most is begun meanwhile. */
static void end_list(struct shards_line *line, bool cancels)
{
    timer_cancel(&line->timeout);
    if (cancels && line->list) line->source->ops->cancel(line->list);
    line->list = NULL;
    if (line->ended) on_free_source(&line->free_source);
    line->ended = line->source;
    line->source = NULL;
    timer_start(&line->free_source, line_clock(line), 0);
}

static void on_item(void *ctx, struct root *object)
{
    struct shards_line *line = ctx;
    shards_lease_read(object, array_add(line->leases, line->count));
    root_unref(object);
}

static void on_list_end(void *ctx, const struct lw_list_meta *meta) {}

/* Its member would count as dead, and its slots be given to another one while it still works. */
static void on_refused(void *ctx, const struct lw_refusal *refusal)
{
    struct shards_line *line = ctx;
    if (line->refused.code == ERR_NONE) line->refused = *refusal->err;
}

static void finish_list(struct shards_line *line, const struct err *err, bool cancels)
{
    struct err copy = err ? *err : (struct err){0};
    end_list(line, cancels);
    if (line->count) qsort(line->leases, line->count, sizeof *line->leases, by_name);
    respond(line, err ? &copy : NULL);
}

static void on_list_done(void *ctx, const struct err *err)
{
    struct shards_line *line = ctx;
    const bool lacks = !err && line->refused.code != ERR_NONE;
    finish_list(line, lacks ? &line->refused : err, false);
}

static void on_timeout(struct timer *timer)
{
    struct shards_line *line = container_of(timer, struct shards_line, timeout);
    struct err err;
    err_set(&err, ERR_TIMEOUT, "the server did not respond to the list of leases in time");
    avoid_connection(line);
    finish_list(line, &err, true);
}

/* At no version: as they are now, and not as a cache of the server has them. */
static void list(struct shards_line *line, int64_t timeout_ms)
{
    static const struct lw_sink sink = {
        .item = on_item, .list_end = on_list_end, .refused = on_refused, .done = on_list_done};
    const struct shards *shards = line->shards;
    char *label = xasprintf("%s=%s", SHARD_LABEL, shards->group);
    const struct lw_scope scope = {
        .namespace_ = shards->namespace_, .label_selector = label, .field_selector = ""};
    clear_response(line);
    line->refused = (struct err){0};
    line->source = shards->options.new_source(shards->options.source_ctx, &shards_leases, &scope);
    free(label);
    timer_start(&line->timeout, line_clock(line), timeout_ms);
    line->list = lw_start(
        line->source,
        &(struct lw_options){.verb = LW_LIST,
                             .resource_version = "",
                             .resource_version_match = "",
                             .continue_token = "",
                             .own_connection = clock_now_ms(line_clock(line)) < line->alone_until_ms},
        &sink, line);
}

/* --- requests */

static void write_body(const struct shards *shards, const struct shard_request *request, struct buf *body)
{
    switch (request->verb) {
    case SHARD_LEASE_CREATE:
    case SHARD_LEASE_UPDATE: shards_lease_write(shards, &request->lease, body); break;
    case SHARD_LEASE_DELETE: shards_delete_write(&request->lease, body); break;
    case SHARD_TABLE_CREATE:
    case SHARD_TABLE_UPDATE: shards_table_write(shards, request, body); break;
    case SHARD_LEASE_GET:
    case SHARD_LEASES_LIST:
    case SHARD_TABLE_GET: break;
    }
}

static void send(void *ctx, enum shard_line which, const struct shard_request *request, shard_done *done,
                 void *done_ctx)
{
    static const enum object_verb verbs[] = {
        [SHARD_LEASE_GET] = OBJECT_GET,       [SHARD_LEASE_CREATE] = OBJECT_CREATE,
        [SHARD_LEASE_UPDATE] = OBJECT_UPDATE, [SHARD_LEASE_DELETE] = OBJECT_DELETE,
        [SHARD_TABLE_GET] = OBJECT_GET,       [SHARD_TABLE_CREATE] = OBJECT_CREATE,
        [SHARD_TABLE_UPDATE] = OBJECT_UPDATE};
    struct shards *shards = ctx;
    struct shards_line *line = &shards->lines[which];
    struct buf body = {0};
    bool table = is_of_table(request->verb);
    line->verb = request->verb;
    line->done = done;
    line->done_ctx = done_ctx;
    snprintf(line->name, sizeof line->name, "%s", request->lease.name);
    if (request->verb == SHARD_LEASES_LIST) {
        list(line, request->timeout_ms);
        return;
    }
    write_body(shards, request, &body);
    const struct object_request object = {
        .verb = verbs[request->verb],
        .place = {.resource = table ? &shards_maps : &shards_leases,
                  .namespace_ = shards->namespace_,
                  .name = table ? shards->table_name : line->name},
        .body = body.len ? buf_slice(&body) : (struct str){0},
        .timeout_ms = request->timeout_ms,
        .once = true,
        .urgent = true,
        .own_connection = clock_now_ms(line_clock(line)) < line->alone_until_ms,
    };
    line->call = shards->options.caller.start(shards->options.caller.ctx, &object, on_object, line);
    buf_clear(&body);
}

static void cancel(void *ctx, enum shard_line which)
{
    struct shards *shards = ctx;
    struct shards_line *line = &shards->lines[which];
    if (line->call) shards->options.caller.cancel(line->call);
    line->call = NULL;
    if (line->source) end_list(line, true);
    avoid_connection(line);
}

struct shard_source shards_source(struct shards *shards)
{
    return (struct shard_source){send, cancel, shards};
}

void shards_line_init(struct shards *shards, struct shards_line *line)
{
    line->shards = shards;
    line->timeout.fn = on_timeout;
    line->free_source.fn = on_free_source;
}

void shards_line_clear(struct shards_line *line)
{
    timer_cancel(&line->free_source);
    on_free_source(&line->free_source);
    clear_response(line);
    buf_clear(&line->table);
    buf_clear(&line->version);
}
