/* Lists, streamed object by object, and single objects; see list.h. */
#include "sim/api/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "sim/api/subresource.h"
#include "sim/object/status.h"
#include "sim/proto/wire.h"
#include "sim/store/form.h"
#include "sim/store/params.h"
#include "sim/store/snapshot.h"
#include "sim/text/json_error.h"
#include "sim/text/tree.h"

struct sim_list {
    struct sim_stream stream;
    struct sim_api *api;
    const struct sim_served *served;
    struct sim_snapshot snapshot;
    struct sim_list_options options;
    enum sim_form form;
    bool protobuf; /* faults break off texts only */
    struct omap_cursor cursor;
    size_t left; /* objects of this page that are still to come */
    size_t sent;
    struct sim_list_meta meta;
    enum { LIST_HEAD, LIST_ITEMS, LIST_TAIL, LIST_DONE } stage;
    struct sim_out out;
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
    sim_out_clear(&list->out);
    free(list->meta.token);
    free(list);
}

static void put_built(struct sim_list *list, void (*build)(struct buf *, const struct sim_served *,
                                                           enum sim_form, const struct sim_list_meta *))
{
    struct buf text = {0};
    build(&text, list->served, list->form, &list->meta);
    sim_out_put(&list->out, buf_slice(&text));
    buf_clear(&text);
}

static struct sim_object *next(struct sim_list *list)
{
    if (list->left == 0) return NULL;
    list->left--;
    return sim_snapshot_next(&list->snapshot, &list->cursor, &list->options);
}

static void put_item(struct sim_list *list)
{
    const struct sim_object *object = next(list);
    if (!object) {
        list->stage = LIST_TAIL;
        return;
    }
    sim_out_put(&list->out, list->sent++ ? STR(",") : STR("["));
    sim_form_item(&list->out, list->served, list->form, object);
}

/* Performs an action; returns false if the client disconnected during a pause. */
static bool act(struct sim_list *list, struct sim_action *action)
{
    bool ok = !action->pause_ms || sim_wait(list->fd, action->pause_ms);
    if (action->text) {
        if (list->stage == LIST_ITEMS) sim_out_put(&list->out, list->sent++ ? STR(",") : STR("["));
        sim_out_put(&list->out, (struct str){action->text, action->len});
    }
    list->then = action->then;
    sim_action_free(action);
    return ok;
}

static bool produce(struct sim_list *list)
{
    struct sim_action *action = list->stage == LIST_HEAD ? NULL : sim_actions_due(&list->actions, list->sent);
    if (action) return act(list, action);
    switch (list->stage) {
    case LIST_HEAD:
        put_built(list, sim_form_list_head);
        list->stage = LIST_ITEMS;
        break;
    case LIST_ITEMS: put_item(list); break;
    case LIST_TAIL:
        list->meta.empty = !list->sent;
        put_built(list, sim_form_list_tail);
        list->stage = LIST_DONE;
        break;
    case LIST_DONE: break;
    }
    return true;
}

static ssize_t finish(struct sim_list *list)
{
    if (list->then == SIM_THEN_SILENCE) sim_wait(list->fd, -1);
    if (list->then == SIM_THEN_RESET) return SIM_STREAM_RESET;
    return list->then == SIM_THEN_GO_ON || list->then == SIM_THEN_END ? SIM_STREAM_END : SIM_STREAM_BROKEN;
}

static ssize_t list_read(struct sim_stream *stream, char *to, size_t room)
{
    struct sim_list *list = container_of(stream, struct sim_list, stream);
    sim_out_begin(&list->out, to, room);
    while (!sim_out_full(&list->out) && list->then == SIM_THEN_GO_ON && list->stage != LIST_DONE)
        if (!produce(list)) return SIM_STREAM_BROKEN;
    return list->out.len ? (ssize_t)list->out.len : finish(list);
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

/* Each object goes once its row is there: as JSON it is several times as large. */
static json_t *table(struct sim_list *list)
{
    const struct sim_kind *kind = list->served->kind;
    const char *include = list->options.include_object;
    int64_t now_s = sim_now_s(list->api);
    json_t *rows = json_array();
    const struct sim_object *object;
    char version[24];
    while ((object = next(list))) {
        json_t *whole = sim_served_json(list->served, object);
        json_array_append_new(rows, sim_table_row(kind, whole, include, now_s));
        json_decref(whole);
    }
    snprintf(version, sizeof version, "%llu", (unsigned long long)list->meta.version);
    json_t *result = sim_table(kind, NULL, 0, version, list->meta.token, include, true, now_s);
    const json_t *column = json_array_get(json_object_get(result, "columnDefinitions"), 1);
    bool none = json_array_size(rows) == 0 && strcmp(sim_text_at(column, "name"), "Created At") == 0;
    json_object_set_new(result, "rows", none ? (json_decref(rows), json_null()) : rows); /* as Go's nil */
    if (list->meta.remaining >= 0)
        json_object_set_new(json_object_get(result, "metadata"), "remainingItemCount",
                            json_integer(list->meta.remaining));
    return result;
}

/* The list in protobuf. Its length stands before it, so it is made at once. */
static void put_protobuf(struct sim_list *list, struct buf *out)
{
    const struct sim_kind *kind = list->served->kind;
    bool partial = list->form != SIM_FORM_JSON;
    const char *api_version = partial ? "meta.k8s.io/v1" : list->served->api_version;
    struct sim_wire_list wire = {
        .api_version = api_version,
        .kind = partial ? "PartialObjectMetadataList" : kind->list_kind,
        .type = sim_wire_type(api_version, partial ? "PartialObjectMetadata" : kind->kind)};
    const struct sim_object *object;
    json_t *meta =
        json_pack("{s:o, s:s*}", "resourceVersion", sim_textf("%llu", (unsigned long long)list->meta.version),
                  "continue", list->meta.token);
    if (list->meta.remaining >= 0)
        json_object_set_new(meta, "remainingItemCount", json_integer(list->meta.remaining));
    if (list->meta.shard)
        json_object_set_new(meta, "shardInfo", json_pack("{ss}", "selector", list->meta.shard));
    sim_wire_list_begin(&wire, out, meta);
    while ((object = next(list))) {
        json_t *item = sim_served_json(list->served, object);
        if (partial) sim_form_hide_generation(kind, item);
        sim_wire_list_add(&wire, item);
        json_decref(item);
    }
    sim_wire_list_end(&wire);
    json_decref(meta);
}

static void respond(struct sim_list *list, struct sim_reply *reply)
{
    list->meta = (struct sim_list_meta){.version = list->snapshot.version, .remaining = -1};
    /* A real server says so in complete lists of its own kinds. */
    if (list->options.shard && list->api->settings.sharding == SIM_SHARDS_ON && list->form == SIM_FORM_JSON &&
        !list->served->kind->custom)
        list->meta.shard = sim_shard_text(list->options.shard);
    list->left = sim_list_measure(&list->snapshot, &list->options, &list->meta);
    sim_snapshot_seek(&list->snapshot, &list->cursor);
    reply->code = 200;
    if (list->form == SIM_FORM_TABLE) {
        reply->json = table(list);
        list_free(&list->stream);
    } else if (list->protobuf) {
        put_protobuf(list, &reply->text);
        reply->content_type = SIM_WIRE_TYPE;
        list_free(&list->stream);
    } else
        reply->stream = &list->stream;
}

void sim_list(struct sim_api *api, const struct sim_request *request, const struct sim_target *target,
              struct sim_list_options *options, struct sim_actions *actions, struct sim_reply *reply)
{
    struct sim_list *list = NEW(struct sim_list);
    struct sim_media media = sim_negotiate_of(target->served->kind, request->accept);
    json_t *refusal;
    *list = (struct sim_list){.stream = {list_read, list_free},
                              .api = api,
                              .served = target->served,
                              .options = *options,
                              .form = media.form,
                              .protobuf = media.protobuf && STAILQ_EMPTY(actions),
                              .fd = request->fd};
    *options = (struct sim_list_options){0};
    STAILQ_INIT(&list->actions);
    STAILQ_CONCAT(&list->actions, actions);
    sim_snapshot_take(api, target, &list->options, &list->snapshot, &refusal);
    if (!refusal && list->form == SIM_FORM_PARTIAL)
        refusal = sim_status_other_form(target->served->kind, "PartialObjectMetadata", true);
    if (!refusal && list->form == SIM_FORM_TABLE) refusal = sim_table_refused(list->options.include_object);
    sim_count(&api->stats.lists, 1);
    if (!refusal) {
        respond(list, reply);
        return;
    }
    sim_reply_status(reply, refusal);
    list_free(&list->stream);
}

static void put_table(const struct sim_api *api, const struct sim_served *served,
                      const struct sim_object *object, const char *include, struct sim_reply *reply)
{
    json_t *whole = sim_served_json(served, object);
    json_t *const objects[] = {whole};
    reply->json = sim_table(served->kind, objects, 1, NULL, NULL, include, true, sim_now_s(api));
    json_decref(whole);
}

void sim_reply_object(const struct sim_api *api, const struct sim_request *request,
                      const struct sim_served *served, const struct sim_object *object,
                      struct sim_reply *reply)
{
    enum sim_form form = sim_negotiate_of(served->kind, request->accept).form;
    struct sim_out out = {0};
    if (form == SIM_FORM_PARTIAL_LIST) {
        sim_reply_status(reply, sim_status_other_form(served->kind, "PartialObjectMetadataList", false));
        return;
    }
    json_t *refusal = form == SIM_FORM_TABLE ? sim_table_refused(sim_query(request, "includeObject")) : NULL;
    if (refusal) {
        sim_reply_status(reply, refusal);
        return;
    }
    reply->code = 200;
    if (form == SIM_FORM_TABLE)
        put_table(api, served, object, sim_query(request, "includeObject"), reply);
    else {
        sim_form_object(&out, served, form, object);
        reply->text = out.kept;
    }
}

/* A get takes any version that is no older than the given one. */
static json_t *version_refused(struct sim_api *api, const struct sim_kind *kind, const char *given)
{
    uint64_t wanted = 0;
    bool cached = !sim_kind_is(kind, "Event"); /* a server reads events from storage */
    if (!given || !*given) return NULL;
    if (!str_to_u64(str_of(given), &wanted)) {
        char *message =
            xasprintf("resourceVersion: Invalid value: \"%s\": strconv.ParseUint: parsing \"%s\": %s", given,
                      given, sim_number_problem(given));
        json_t *status = cached ? sim_status(500, NULL, message, NULL, NULL)
                                : sim_status_bad_request("invalid resource version: %s", message);
        free(message);
        return status;
    }
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
