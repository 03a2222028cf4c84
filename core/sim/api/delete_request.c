/* DELETE of an object, and of all that selectors match; see write_request_internal.h. */
#include <stdlib.h>

#include "sim/api/list.h"
#include "sim/api/write_options.h"
#include "sim/api/write_request_internal.h"
#include "sim/object/defaults.h"
#include "sim/object/status.h"
#include "sim/store/snapshot.h"
#include "sim/store/write.h"
#include "sim/text/tree.h"

static bool dry_runs(const json_t *options)
{
    return json_array_size(json_object_get(options, "dryRun")) > 0;
}

/* A Job without a word about its pods leaves them behind. */
static void warn_of_orphans(const struct writing *w, const json_t *options)
{
    bool said = json_object_get(options, "propagationPolicy") || json_object_get(options, "orphanDependents");
    const struct sim_kind *kind = w->target->served->kind;
    if (said || !sim_kind_is(kind, "Job")) return;
    if (!w->reply->warnings) w->reply->warnings = json_array();
    json_array_append_new(
        w->reply->warnings,
        json_string("child pods are preserved by default when jobs are deleted; set "
                    "propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress "
                    "this warning"));
}

/* NULL and a response if they are refused. */
static json_t *delete_options(const struct writing *w)
{
    json_t *refusal, *options = sim_delete_options_read(w->request, &refusal);
    if (refusal)
        sim_reply_status(w->reply, refusal);
    else
        warn_of_orphans(w, options);
    return options;
}

/* A server that would take the last finalizers, and tries it only, shows an object of which nothing was read.
 */
static json_t *unread(const struct sim_served *served)
{
    const struct sim_kind *kind = served->kind;
    json_t *head = json_pack("{ss ss}", "apiVersion", served->api_version, "kind", kind->kind);
    return kind->schema ? sim_unread(kind, head) : head;
}

/* Responds with the object if it still exists or its kind returns deleted objects; else with a Status. */
static void respond_deleted(struct writing *w, bool tried, struct sim_written *written)
{
    const struct sim_served *served = w->target->served;
    if (tried && !written->refusal && written->removed &&
        json_array_size(sim_at(written->before, "metadata.finalizers"))) {
        w->reply->code = 200;
        w->reply->json = unread(served);
        sim_written_clear(w->api, written);
    } else if (!written->refusal && written->removed && !served->kind->returns_deleted) {
        json_t *object = sim_served_json(served, written->object);
        sim_reply_status(
            w->reply, sim_status_success(served->kind, w->target->name, sim_text_at(object, "metadata.uid")));
        json_decref(object);
        sim_written_clear(w->api, written);
    } else
        sim_write_respond(w, written);
}

void sim_delete_one(struct writing *w, const char *key)
{
    struct sim_written written;
    json_t *options = delete_options(w);
    if (!options) return;
    sim_write_delete(w->api, w->target->served, key, options, dry_runs(options), &written);
    respond_deleted(w, dry_runs(options), &written);
    json_decref(options);
}

/* Returns an item of a list, which has kind and version of its own only if it is a custom resource. */
static json_t *item(const struct sim_served *served, const struct sim_object *object)
{
    json_t *item = sim_served_json(served, object);
    if (served->kind->custom) return item;
    json_object_del(item, "kind");
    json_object_del(item, "apiVersion");
    return item;
}

/* Deletes each object of the page that the selectors match, until one is refused; the response is a list of
 * them as they were. What is gone meanwhile is no error. */
static void delete_listed(struct writing *w, const json_t *options, const struct sim_list_options *selection,
                          const struct sim_snapshot *snapshot)
{
    const struct sim_served *served = w->target->served;
    struct sim_list_meta page = {.remaining = -1};
    size_t left = sim_list_measure(snapshot, selection, &page);
    json_t *items = json_array(), *version = sim_textf("%llu", (unsigned long long)snapshot->version);
    json_t *refusal = NULL;
    struct omap_cursor cursor;
    const struct sim_object *object;
    sim_snapshot_seek(snapshot, &cursor);
    while (!refusal && left-- && (object = sim_snapshot_next(snapshot, &cursor, selection))) {
        struct sim_written written;
        sim_write_delete(w->api, served, object->key, options, dry_runs(options), &written);
        if (written.refusal && sim_status_code(written.refusal) != 404)
            refusal = json_incref(written.refusal);
        else
            json_array_append_new(items, item(served, object));
        sim_written_clear(w->api, &written);
    }
    if (refusal)
        sim_reply_status(w->reply, refusal);
    else {
        w->reply->code = 200;
        w->reply->json = json_pack("{ss ss s{sO s:s*} sO}", "kind", served->kind->list_kind, "apiVersion",
                                   served->api_version, "metadata", "resourceVersion", version, "continue",
                                   served->kind->custom && !page.token ? "" : page.token, "items", items);
        if (page.remaining >= 0)
            sim_set_at(w->reply->json, "metadata.remainingItemCount", json_integer(page.remaining));
    }
    free(page.token);
    json_decref(items);
    json_decref(version);
}

void sim_delete_collection(struct writing *w)
{
    struct sim_list_options selection;
    struct sim_snapshot snapshot = {0};
    json_t *options = NULL, *refusal = NULL;
    bool read =
        sim_list_options_read(w->request, w->target->served->kind, SIM_SHARDS_OFF, &selection, &refusal);
    if (read) options = delete_options(w); /* a server reads the body last */
    if (options && sim_snapshot_take(w->api, w->target, &selection, &snapshot, &refusal)) {
        delete_listed(w, options, &selection, &snapshot);
        sim_snapshot_release(w->api, &snapshot);
    } else if (refusal)
        sim_reply_status(w->reply, refusal);
    sim_list_options_clear(&selection);
    json_decref(options);
}
