/* DELETE of an object, and of all that selectors match; see write_request_internal.h. */
#include <stdlib.h>

#include "sim/api/list.h"
#include "sim/api/write_options.h"
#include "sim/api/write_request_internal.h"
#include "sim/object/defaults.h"
#include "sim/object/status.h"
#include "sim/store/form.h"
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

/* Deletes each object of the page that the selectors match, until one is refused; the response is a list of
 * them as they were. What is gone meanwhile is no error. */
static void delete_listed(struct writing *w, const json_t *options, const struct sim_list_options *selection,
                          const struct sim_snapshot *snapshot)
{
    struct sim_view view = {.served = w->target->served, .form = SIM_FORM_JSON};
    struct sim_list_meta page = {.version = snapshot->version, .remaining = -1, .empty = true};
    size_t left = sim_list_page(snapshot, selection, &page);
    json_t *refusal = NULL;
    struct sim_out out = {0};
    struct omap_cursor cursor;
    const struct sim_object *object;
    sim_snapshot_seek(snapshot, &cursor);
    sim_form_list_head(&out.kept, &view, &page);
    while (!refusal && left-- && (object = sim_snapshot_next(snapshot, &cursor, selection))) {
        struct sim_written written;
        sim_write_delete(w->api, view.served, object->key, options, dry_runs(options), &written);
        if (written.refusal && sim_status_code(written.refusal) != 404)
            refusal = json_incref(written.refusal);
        buf_putc(&out.kept, page.empty ? '[' : ',');
        page.empty = false;
        sim_form_item(&out, &view, object);
        sim_written_clear(w->api, &written);
    }
    sim_form_list_tail(&out.kept, &view, &page);
    free(page.token);
    if (refusal) {
        sim_reply_status(w->reply, refusal);
        sim_out_clear(&out);
    } else {
        w->reply->code = 200;
        w->reply->text = out.kept;
    }
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
