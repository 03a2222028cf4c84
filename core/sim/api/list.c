/* Lists, streamed object by object, and single objects; see list.h. */
#include "sim/api/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "sim/api/encode.h"
#include "sim/api/subresource.h"
#include "sim/object/status.h"
#include "sim/proto/wire.h"
#include "sim/store/form.h"
#include "sim/store/params.h"
#include "sim/store/snapshot.h"
#include "sim/text/protobuf.h"
#include "sim/text/tree.h"

enum { BLOCK_MS = 5 };

struct sim_list {
    struct sim_stream stream;
    struct sim_api *api;
    struct sim_snapshot snapshot;
    struct sim_list_options options;
    struct sim_view view;
    enum { LIST_JSON, LIST_YAML, LIST_PROTOBUF } encoding;
    struct sim_yaml_list *yaml;
    const struct schema_type *type; /* of the items, in protobuf */
    struct omap_cursor cursor;
    size_t left; /* objects of this page that are still to come */
    size_t sent;
    struct sim_list_meta meta;
    enum { LIST_HEAD, LIST_ITEMS, LIST_TAIL, LIST_DONE } stage;
    struct sim_out out, item; /* `item` is JSON that is to be encoded */
    struct buf encoded;
    struct sim_actions actions;
    enum sim_then then;
    int fd;
};

static void list_free(struct sim_stream *stream)
{
    struct sim_list *list = container_of(stream, struct sim_list, stream);
    sim_snapshot_release(list->api, &list->snapshot);
    sim_list_options_clear(&list->options);
    sim_actions_clear(&list->actions);
    sim_yaml_list_free(list->yaml);
    sim_out_clear(&list->out);
    sim_out_clear(&list->item);
    buf_clear(&list->encoded);
    free((char *)list->view.include_object);
    free(list->meta.token);
    free(list);
}

static const struct sim_object *next(struct sim_list *list)
{
    if (list->left == 0) return NULL;
    list->left--;
    return sim_snapshot_next(&list->snapshot, &list->cursor, &list->options);
}

/* Returns the item as JSON; valid until the next call. */
static struct str item_text(struct sim_list *list, const struct sim_object *object)
{
    if (!sim_form_is_made(&list->view)) return (struct str){object->text, object->len};
    list->item.kept.len = 0;
    sim_form_item(&list->item, &list->view, object);
    return buf_slice(&list->item.kept);
}

/* --- protobuf: the length of all items stands before the first, so that they are measured before */

/* Returns the size of the item's message, which is found out once for each state of an object. */
static size_t measure(struct sim_list *list, const struct sim_object *object)
{
    bool partial = list->view.form != SIM_FORM_JSON;
    bool stays = !list->view.served->kind->conversion && !sim_kind_is(list->view.served->kind, "DaemonSet");
    atomic_uint *known = (atomic_uint *)&object->wire_sizes[partial];
    size_t size = stays ? atomic_load_explicit(known, memory_order_relaxed) : 0;
    if (size) return size;
    list->encoded.len = 0;
    sim_wire_put_message(&list->encoded, list->type, item_text(list, object));
    size = list->encoded.len;
    if (stays) atomic_store_explicit(known, (unsigned)size, memory_order_relaxed);
    return size;
}

static void put_protobuf_head(struct sim_list *list)
{
    struct omap_cursor cursor = list->cursor;
    size_t left = list->left, len = 0, size;
    bool partial = list->view.form != SIM_FORM_JSON;
    const struct sim_served *served = list->view.served;
    const char *api_version = partial ? "meta.k8s.io/v1" : served->api_version;
    struct buf meta = {0};
    list->type = sim_wire_type(api_version, partial ? "PartialObjectMetadata" : served->kind->kind);
    for (const struct sim_object *object; (object = next(list)); len += sim_protobuf_head_size(size) + size)
        size = measure(list, object);
    list->cursor = cursor;
    list->left = left;
    list->encoded.len = 0;
    sim_form_list_meta(&meta, &list->meta);
    sim_wire_list_head(&list->encoded, api_version,
                       partial ? "PartialObjectMetadataList" : served->kind->list_kind, buf_slice(&meta),
                       len);
    buf_clear(&meta);
}

/* --- parts, in each encoding */

/* Passes on what was encoded. */
static void put_encoded(struct sim_list *list)
{
    sim_out_put(&list->out, buf_slice(&list->encoded));
    list->encoded.len = 0;
}

/* The list as if it had no items. */
static void put_yaml_head(struct sim_list *list)
{
    struct buf text = {0};
    struct omap_cursor cursor = list->cursor;
    list->meta.empty = list->left == 0 || !sim_snapshot_next(&list->snapshot, &cursor, &list->options);
    sim_form_list_head(&text, &list->view, &list->meta);
    if (!list->meta.empty) buf_putc(&text, '[');
    sim_form_list_tail(&text, &list->view, &list->meta);
    json_t *around = sim_parse(buf_slice(&text), 0, NULL);
    buf_clear(&text);
    if (!list->meta.empty) {
        list->yaml = sim_yaml_list_begin(&list->encoded, around);
        return;
    }
    sim_put_yaml(&list->encoded, around);
    json_decref(around);
}

static void put_head(struct sim_list *list)
{
    if (list->encoding == LIST_PROTOBUF)
        put_protobuf_head(list);
    else if (list->encoding == LIST_YAML)
        put_yaml_head(list);
    else
        sim_form_list_head(&list->encoded, &list->view, &list->meta);
    put_encoded(list);
    list->stage = LIST_ITEMS;
}

static void put_separator(struct sim_list *list)
{
    if (list->encoding == LIST_JSON) sim_out_put(&list->out, list->sent ? STR(",") : STR("["));
    list->sent++;
}

static void put_item(struct sim_list *list)
{
    const struct sim_object *object = next(list);
    if (!object) {
        list->stage = LIST_TAIL;
        return;
    }
    put_separator(list);
    if (list->encoding == LIST_JSON)
        sim_form_item(&list->out, &list->view, object);
    else if (list->encoding == LIST_PROTOBUF)
        sim_wire_put_item(&list->encoded, list->type, item_text(list, object));
    else {
        json_t *item = sim_read_stored(item_text(list, object), NULL, json_object());
        sim_yaml_list_add(list->yaml, item);
        json_decref(item);
    }
    put_encoded(list);
}

static void put_tail(struct sim_list *list)
{
    list->meta.empty = !list->sent;
    if (list->encoding == LIST_JSON)
        sim_form_list_tail(&list->encoded, &list->view, &list->meta);
    else if (list->yaml)
        sim_yaml_list_end(list->yaml);
    put_encoded(list);
    list->stage = LIST_DONE;
}

static bool produce(struct sim_list *list)
{
    struct sim_action *action = list->stage == LIST_HEAD ? NULL : sim_actions_due(&list->actions, list->sent);
    if (action && action->text && list->stage == LIST_ITEMS) put_separator(list);
    if (action) return sim_out_act(&list->out, action, &list->then, list->fd);
    switch (list->stage) {
    case LIST_HEAD: put_head(list); break;
    case LIST_ITEMS: put_item(list); break;
    case LIST_TAIL: put_tail(list); break;
    case LIST_DONE: break;
    }
    return true;
}

/* Fills a block, and stops before if that takes long: what is slow to make is sent in smaller ones. */
static ssize_t list_read(struct sim_stream *stream, char *to, size_t room)
{
    struct sim_list *list = container_of(stream, struct sim_list, stream);
    int64_t until_ms = clock_now_ms(clock_real()) + BLOCK_MS;
    sim_out_begin(&list->out, to, room);
    while (!sim_out_full(&list->out) && list->then == SIM_THEN_GO_ON && list->stage != LIST_DONE) {
        if (!produce(list)) return SIM_STREAM_BROKEN;
        if (list->out.len && clock_now_ms(clock_real()) > until_ms) break;
    }
    return list->out.len ? (ssize_t)list->out.len : sim_stream_end(list->then, list->fd);
}

size_t sim_list_measure(const struct sim_snapshot *snapshot, const struct sim_list_options *options,
                        struct sim_list_meta *meta)
{
    struct omap_cursor cursor;
    const struct sim_object *last = NULL, *object;
    size_t n = 0;
    if (!snapshot->limit) return SIZE_MAX;
    sim_snapshot_seek(snapshot, &cursor);
    while ((object = sim_snapshot_next(snapshot, &cursor, options)) && n < snapshot->limit) {
        last = object;
        n++;
    }
    /* A server looks no further for what has the labels. */
    bool more = object || (options->labels && !options->fields && n == snapshot->limit && last &&
                           sim_snapshot_remaining(snapshot, last->key) > 0);
    if (!more || !last) return n;
    meta->token = sim_page_token((int64_t)snapshot->version, last->key);
    if (!options->labels && !options->fields)
        meta->remaining = (int64_t)sim_snapshot_remaining(snapshot, last->key);
    return n;
}

static void respond(struct sim_list *list, struct sim_reply *reply)
{
    static const char *const types[] = {
        [LIST_JSON] = "application/json", [LIST_YAML] = "application/yaml", [LIST_PROTOBUF] = SIM_WIRE_TYPE};
    list->meta = (struct sim_list_meta){.version = list->snapshot.version, .remaining = -1};
    /* A real server says so in complete lists of its own kinds. */
    if (list->options.shard && list->api->settings.sharding == SIM_SHARDS_ON &&
        list->view.form == SIM_FORM_JSON && !list->view.served->kind->custom)
        list->meta.shard = sim_shard_text(list->options.shard);
    list->left = sim_list_measure(&list->snapshot, &list->options, &list->meta);
    sim_snapshot_seek(&list->snapshot, &list->cursor);
    reply->code = 200;
    reply->content_type = types[list->encoding];
    reply->stream = &list->stream;
}

void sim_list(struct sim_api *api, const struct sim_request *request, const struct sim_target *target,
              struct sim_list_options *options, struct sim_actions *actions, struct sim_reply *reply)
{
    struct sim_list *list = NEW(struct sim_list);
    const struct sim_kind *kind = target->served->kind;
    struct sim_media media = sim_negotiate_of(kind, request->accept);
    bool plain = !STAILQ_EMPTY(actions); /* faults are about JSON */
    json_t *refusal;
    *list = (struct sim_list){
        .stream = {list_read, list_free},
        .api = api,
        .options = *options,
        .view = {api, target->served, media.form, xstrdup(options->include_object), false, media.beta},
        .encoding = plain            ? LIST_JSON
                    : media.protobuf ? LIST_PROTOBUF
                    : media.yaml     ? LIST_YAML
                                     : LIST_JSON,
        .fd = request->fd};
    *options = (struct sim_list_options){0};
    STAILQ_INIT(&list->actions);
    STAILQ_CONCAT(&list->actions, actions);
    sim_snapshot_take(api, target, &list->options, &list->snapshot, &refusal);
    if (!refusal && media.form == SIM_FORM_PARTIAL)
        refusal = sim_status_other_form(kind, "PartialObjectMetadata", true);
    if (!refusal && media.form == SIM_FORM_TABLE) refusal = sim_table_refused(list->view.include_object);
    sim_count(&api->stats.lists, 1);
    if (!refusal) {
        respond(list, reply);
        return;
    }
    sim_reply_status(reply, refusal);
    list_free(&list->stream);
}

void sim_reply_object(const struct sim_api *api, const struct sim_request *request,
                      const struct sim_served *served, const struct sim_object *object,
                      struct sim_reply *reply)
{
    struct sim_media media = sim_negotiate_of(served->kind, request->accept);
    const char *include = sim_query(request, "includeObject");
    struct sim_view view = {api, served, media.form, include, false, media.beta};
    struct sim_out out = {0};
    json_t *refusal = NULL;
    if (media.form == SIM_FORM_PARTIAL_LIST)
        refusal = sim_status_other_form(served->kind, "PartialObjectMetadataList", false);
    if (media.form == SIM_FORM_TABLE) refusal = sim_table_refused(include);
    if (refusal) {
        sim_reply_status(reply, refusal);
        return;
    }
    reply->code = 200;
    sim_form_object(&out, &view, object);
    reply->text = out.kept;
}

/* A get takes any version that is no older than the given one. */
static json_t *version_refused(struct sim_api *api, const struct sim_kind *kind, const char *given)
{
    uint64_t wanted = 0;
    bool cached = !sim_kind_is(kind, "Event"); /* a server reads events from storage */
    if (!given || !*given) return NULL;
    if (!str_to_u64(str_of(given), &wanted)) return sim_version_refused(given, cached);
    sim_store_lock(api->store);
    uint64_t version = api->store->version;
    sim_store_unlock(api->store);
    json_t *refusal = wanted > version ? sim_status_too_large(wanted, version) : NULL;
    if (!cached) json_object_del(json_object_get(refusal, "details"), "retryAfterSeconds");
    return refusal;
}

void sim_get(struct sim_api *api, const struct sim_request *request, const struct sim_target *target,
             struct sim_reply *reply)
{
    char *key = sim_target_key(target, target->name);
    sim_count(&api->stats.gets, 1);
    json_t *refusal = version_refused(api, target->served->kind, sim_query(request, "resourceVersion"));
    if (refusal) {
        free(key);
        sim_reply_status(reply, refusal);
        return;
    }
    struct sim_object *object = sim_store_ref(api->store, target->served->resource, key);
    free(key);
    if (!object) {
        sim_reply_status(reply, sim_status_not_found(target->served->kind, target->name));
        return;
    }
    if (target->subresource && sim_is_kubelets(target->subresource))
        sim_kubelet(api, request, target, object, reply);
    else if (target->subresource && strcmp(target->subresource, "scale") == 0)
        sim_scale_get(target, object, reply);
    else
        sim_reply_object(api, request, target->served, object, reply);
    sim_store_release(api->store, object);
}
