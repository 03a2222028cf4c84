/* Lists, streamed object by object; see list.h. */
#include "sim/api/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "sim/api/encode.h"
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
    bool partial;
    const char *api_version; /* in protobuf, as the type of the items */
    const struct schema_type *type;
    struct omap_cursor cursor;
    size_t page, left; /* objects of this page, and those that are still to come */
    size_t sent;
    struct sim_list_meta meta;
    size_t size;     /* of all items, in protobuf */
    int64_t look_ms; /* when it looks next for the client */
    enum { LIST_MEASURE, LIST_HEAD, LIST_ITEMS, LIST_TAIL, LIST_DONE } stage;
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

/* Adds the size of the item's message, which is found out once for each state of an object. */
static bool add_size(struct sim_list *list, const struct sim_object *object)
{
    bool stays = !list->view.served->kind->conversion && !sim_kind_is(list->view.served->kind, "DaemonSet");
    atomic_uint *known = (atomic_uint *)&object->wire_sizes[list->partial];
    size_t size = stays ? atomic_load_explicit(known, memory_order_relaxed) : 0;
    if (!size) {
        if (!sim_wire_put_message(&list->encoded, list->type, item_text(list, object))) return false;
        size = list->encoded.len;
        list->encoded.len = 0;
        if (stays) atomic_store_explicit(known, (unsigned)size, memory_order_relaxed);
    }
    list->size += sim_protobuf_head_size(size) + size;
    return true;
}

/* Measures an item, and goes back to the first behind the last. Nothing is sent meanwhile, so that it has to
 * look for a client that went away. */
static bool measure_item(struct sim_list *list)
{
    const struct sim_object *object = next(list);
    int64_t now_ms = clock_now_ms(clock_real());
    if (now_ms > list->look_ms) {
        if (!sim_wait(list->fd, 0)) return false;
        list->look_ms = now_ms + BLOCK_MS;
    }
    if (object) return add_size(list, object);
    sim_snapshot_seek(&list->snapshot, &list->cursor);
    list->left = list->page;
    list->stage = LIST_HEAD;
    return true;
}

static void put_protobuf_head(struct sim_list *list)
{
    struct buf meta = {0};
    sim_form_list_meta(&meta, &list->meta);
    sim_wire_list_head(&list->encoded, list->api_version,
                       list->partial ? "PartialObjectMetadataList" : list->view.served->kind->list_kind,
                       buf_slice(&meta), list->size);
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

static bool put_item(struct sim_list *list)
{
    const struct sim_object *object = next(list);
    bool ok = true;
    if (!object) {
        list->stage = LIST_TAIL;
        return true;
    }
    put_separator(list);
    if (list->encoding == LIST_JSON)
        sim_form_item(&list->out, &list->view, object);
    else if (list->encoding == LIST_PROTOBUF)
        ok = sim_wire_put_item(&list->encoded, list->api_version, list->type, item_text(list, object));
    else {
        json_t *item = sim_read_stored(item_text(list, object), NULL, json_object());
        sim_yaml_list_add(list->yaml, item);
        json_decref(item);
    }
    put_encoded(list);
    return ok;
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
    struct sim_action *action = list->stage <= LIST_HEAD ? NULL : sim_actions_due(&list->actions, list->sent);
    if (action && action->text && list->stage == LIST_ITEMS) put_separator(list);
    if (action) return sim_out_act(&list->out, action, &list->then, list->fd);
    switch (list->stage) {
    case LIST_MEASURE: return measure_item(list);
    case LIST_HEAD: put_head(list); break;
    case LIST_ITEMS: return put_item(list);
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

size_t sim_list_page(const struct sim_snapshot *snapshot, const struct sim_list_options *options,
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
    /* A server looks no further for what is selected, unless it gets one object by its name. */
    bool placed = last && (*snapshot->prefix || !strchr(last->key, '/'));
    bool looks = options->fields ? !sim_selector_is_single(options->fields, placed) : options->labels != NULL;
    bool more =
        object || (looks && n == snapshot->limit && last && sim_snapshot_remaining(snapshot, last->key) > 0);
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
    list->page = list->left = sim_list_page(&list->snapshot, &list->options, &list->meta);
    sim_snapshot_seek(&list->snapshot, &list->cursor);
    list->stage = list->encoding == LIST_PROTOBUF ? LIST_MEASURE : LIST_HEAD;
    list->partial = list->view.form != SIM_FORM_JSON;
    list->api_version = list->partial ? sim_form_api_version(&list->view) : list->view.served->api_version;
    list->type = sim_wire_type(list->api_version,
                               list->partial ? "PartialObjectMetadata" : list->view.served->kind->kind);
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
