/* Create, update and delete on the store; see write.h. */
#include "sim/store/write.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/must.h"
#include "sim/managed/managed.h"
#include "sim/object/convert.h"
#include "sim/object/object_spec.h"
#include "sim/object/status.h"
#include "sim/store/effects.h"
#include "sim/text/random.h"
#include "sim/text/tree.h"

enum { SUFFIX_LEN = 5 };

struct fresh {
    char uid[SIM_UID_LEN + 1], suffix[SUFFIX_LEN + 1];
    struct sim_now now;
};

/* Returns the part of a key behind the namespace. */
static const char *key_name(const char *key)
{
    const char *slash = strchr(key, '/');
    return slash ? slash + 1 : key;
}

static void freshen(struct sim_api *api, struct fresh *fresh)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    sim_store_lock(api->store);
    sim_random_uid(&api->store->random, fresh->uid);
    for (size_t i = 0; i < SUFFIX_LEN; i++)
        fresh->suffix[i] = letters[sim_random_below(&api->store->random, sizeof letters - 1)];
    sim_store_unlock(api->store);
    fresh->suffix[SUFFIX_LEN] = '\0';
    fresh->now = (struct sim_now){.seconds = (time_t)(clock_wall_us(sim_clock(api)) / 1000000),
                                  .uid = fresh->uid,
                                  .suffix = fresh->suffix};
}

/* Returns what is to be stored for an object of a version. */
static struct sim_object *packed(const struct sim_served *served, const json_t *object, bool dry_run)
{
    json_t *stored = sim_to_stored(served->kind, json_incref((json_t *)object));
    struct sim_object *result = dry_run ? sim_object_tried(stored) : sim_object_from_json(stored);
    json_decref(stored);
    return result;
}

static struct sim_object *keep(struct sim_api *api, struct sim_object *object)
{
    sim_store_lock(api->store);
    sim_object_ref(object);
    sim_store_unlock(api->store);
    return object;
}

void sim_written_clear(struct sim_api *api, struct sim_written *written)
{
    sim_store_release(api->store, written->object);
    json_decref(written->refusal);
    json_decref(written->before);
    *written = (struct sim_written){0};
}

static json_t *ending(const struct sim_kind *kind, const char *name)
{
    return sim_status_forbidden(kind, name,
                                "create not allowed while custom resource definition is terminating");
}

/* Adds the new object to the store, with a second reference for the caller, unless it is a dry run; returns
 * false if it exists already, or if its definition ends by now, and sets `*ends`. */
static bool add(struct sim_api *api, const struct sim_served *served, struct sim_object *object, bool dry_run,
                bool *ends)
{
    struct sim_resource *resource = served->resource;
    sim_store_lock(api->store);
    *ends = resource->gone || resource->kind->ending;
    bool ok = !*ends && !omap_get(resource->map, object->key);
    if (ok && !dry_run) sim_store_put(api->store, resource, sim_object_ref(object));
    sim_store_unlock(api->store);
    return ok;
}

/* Refuses a create; of an object that is still being deleted, too, with a word of that. */
static json_t *exists(struct sim_api *api, const struct sim_served *served, const struct sim_object *object)
{
    json_t *status = sim_status_already_exists(served->kind, sim_object_name(object));
    struct sim_object *there = sim_store_ref(api->store, served->resource, object->key);
    json_t *body = there ? sim_served_json(served, there) : NULL;
    if (*sim_text_at(body, "metadata.deletionTimestamp"))
        json_object_set_new(status, "message",
                            sim_textf("object is being deleted: %s", sim_text_at(status, "message")));
    json_decref(body);
    if (there) sim_store_release(api->store, there);
    return status;
}

/* Lists that JSON has even if they are empty come out of storage as null; their owners are set before that.
 */
static void lose_empty_lists(const struct sim_kind *kind, json_t *object)
{
    static const char *const lists[][3] = {{"Role", "", "rules"},
                                           {"ClusterRole", "", "rules"},
                                           {"EndpointSlice", "", "endpoints"},
                                           {"CSINode", "spec", "drivers"},
                                           {"LimitRange", "spec", "limits"}};
    for (size_t i = 0; i < ARRAY_LEN(lists) && !kind->custom; i++) {
        json_t *holder = sim_at(object, lists[i][1]), *list = json_object_get(holder, lists[i][2]);
        bool empty = json_is_array(list) && json_array_size(list) == 0;
        if (empty && strcmp(kind->kind, lists[i][0]) == 0)
            json_object_set_new(holder, lists[i][2], json_null());
    }
}

/* Sets the owners of the fields of an object that is about to be stored. */
static void set_owners(struct sim_api *api, const struct sim_served *served, struct sim_writer by,
                       const char *subresource, const json_t *before, const json_t *body, json_t *after)
{
    const struct sim_author author = {by.manager, "Update", served->api_version, subresource,
                                      clock_wall_us(sim_clock(api)) / 1000000};
    bool is_scale = subresource && strcmp(subresource, "scale") == 0; /* whose owners are in `after` */
    if (by.manager && !is_scale)
        sim_managed_write(served->kind, &author, before, body, after);
    else
        sim_managed_tidy(after);
}

static bool has_no_labels(const json_t *body)
{
    return !json_object_size(sim_at(body, "metadata.labels")) &&
           !json_object_size(sim_at(body, "spec.template.metadata.labels"));
}

/* Bytes that are null are stored as such, and read as none. */
static bool has_null_bytes(const struct sim_kind *kind, const json_t *body)
{
    const char *path = sim_kind_is(kind, "Secret") ? "data" : "binaryData", *key;
    json_t *value;
    json_object_foreach (kind->custom ? NULL : sim_at(body, path), key, value)
        if (json_is_null(value)) return true;
    return false;
}

/* Returns whether the first object in a server's storage is another one than what is read from there: a job
 * gets labels, a claim a phase. */
static bool is_unsettled(const struct sim_kind *kind, const json_t *body)
{
    return sim_kind_is(kind, "PersistentVolumeClaim") || has_null_bytes(kind, body) ||
           (sim_takes_labels(kind) && has_no_labels(body));
}

/* The same after an update: a job may lose its labels, and a service that becomes an ExternalName keeps an
 * internalTrafficPolicy where nobody sees it, which patches find. */
static bool becomes_unsettled(const struct sim_kind *kind, bool was_patched, const json_t *body,
                              const json_t *after)
{
    if (sim_kind_is(kind, "Service"))
        return strcmp(sim_text_at(after, "spec.type"), "ExternalName") == 0 &&
               (was_patched || sim_at(body, "spec.internalTrafficPolicy"));
    return has_null_bytes(kind, body) || (sim_takes_labels(kind) && has_no_labels(body));
}

/* Returns whether a server stores nothing, as the result is what it had. It compares with what it reads,
 * where a job has labels that it lost, and bytes are not null: without them it is another one each time. */
static bool stays(const struct sim_kind *kind, const json_t *before, const struct sim_object *old,
                  const json_t *after, bool unsettled)
{
    return json_equal(before, after) && old->unsettled == unsettled &&
           (!unsettled || sim_kind_is(kind, "Service")) && !sim_is_finished(kind, after);
}

/* Other objects of the kind may stand in its way. */
struct others {
    struct sim_api *api;
    const struct sim_served *served;
};

static bool is_taken(void *ctx, const char *key, const char *text)
{
    const struct others *others = ctx;
    return sim_store_has_text(others->api->store, others->served->resource, key, text);
}

/* Services are written one after the other: two must not find the same address, or port, free. */
static void hold_addresses(const struct sim_served *served, bool hold)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (sim_kind_is(served->kind, "Service")) (hold ? pthread_mutex_lock : pthread_mutex_unlock)(&lock);
}

/* Takes the status that refuses an object, or NULL, and returns what does: admission comes before rules. */
static json_t *admitted(struct sim_api *api, const struct sim_kind *kind, const char *namespace_,
                        const char *name, json_t *status)
{
    json_t *why = NULL;
    if (kind->ending)
        why = ending(kind, name);
    else if (namespace_ && (!status || sim_status_code(status) == 422))
        why = sim_effects_namespace_refuses(api, kind, namespace_, name);
    if (why) json_decref(status);
    return why ? why : status;
}

static void create(struct sim_api *api, const struct sim_served *served, const char *namespace_,
                   const json_t *body, struct sim_writer by, struct sim_written *written)
{
    bool ends;
    struct fresh fresh;
    struct others others = {api, served};
    struct sim_refusal refusal = {.is_taken = is_taken, .ctx = &others};
    *written = (struct sim_written){0};
    freshen(api, &fresh);
    fresh.now.checked = by.checked;
    fresh.now.tried = by.dry_run;
    json_t *prepared = sim_prepare_create(served->kind, body, namespace_, &fresh.now, &refusal);
    written->refusal = admitted(api, served->kind, namespace_,
                                sim_text_at(prepared ? prepared : body, "metadata.name"), refusal.status);
    if (written->refusal) {
        json_decref(prepared);
        return;
    }
    set_owners(api, served, by, NULL, NULL, body, prepared);
    lose_empty_lists(served->kind, prepared);
    struct sim_object *object = packed(served, prepared, by.dry_run);
    must(object);
    object->unsettled = is_unsettled(served->kind, body);
    written->object = object; /* refused, too: what a server says of it, it says before that */
    written->created = add(api, served, object, by.dry_run, &ends);
    if (!written->created)
        written->refusal = ends ? ending(served->kind, sim_object_name(object)) : exists(api, served, object);
    else if (!by.dry_run)
        sim_effects_stored(api, served, prepared);
    json_decref(prepared);
}

void sim_write_create(struct sim_api *api, const struct sim_served *served, const char *namespace_,
                      const json_t *body, struct sim_writer by, struct sim_written *written)
{
    hold_addresses(served, true);
    create(api, served, namespace_, body, by, written);
    hold_addresses(served, false);
}

enum write_step { STEP_STORE, STEP_STORE_THEN_REMOVE, STEP_REMOVE };

/* Commits under the lock; returns false if the object changed since it was read. Takes `updated`, NULL for a
 * removal alone; the result receives a reference. */
static bool commit(struct sim_api *api, const struct sim_served *served, struct sim_object *old,
                   struct sim_object *updated, enum write_step step, struct sim_written *written)
{
    struct sim_resource *resource = served->resource;
    sim_store_lock(api->store);
    bool ok = !resource->gone && omap_get(resource->map, old->key) == old;
    if (ok && step != STEP_REMOVE) sim_store_put(api->store, resource, sim_object_ref(updated));
    if (ok && step != STEP_STORE) {
        sim_store_remove(api->store, resource, old->key);
        written->removed = true;
    }
    if (ok) written->object = sim_object_ref(updated ? updated : old);
    if (updated) sim_object_unref(updated);
    sim_store_unlock(api->store);
    return ok;
}

/* Returns the result of a dry run; the object keeps its version. */
static struct sim_object *only_tried(const struct sim_served *served, const struct sim_object *old,
                                     const json_t *after)
{
    struct sim_object *object = packed(served, after, false);
    sim_object_set_version(object, old->version);
    return object;
}

/* Update or deletion in progress. */
struct sim_change {
    struct sim_api *api;
    const struct sim_served *served;
    struct sim_writer by;
    struct sim_written *written;
    const char *subresource; /* of an update, as are the next two */
    sim_body_fn *body;
    void *ctx;
    const json_t *options; /* of a deletion */
};

/* Retries until no other write was faster. */
static void perform(struct sim_change *c, const char *key,
                    bool (*attempt)(struct sim_change *c, struct sim_object *old))
{
    bool done = false;
    *c->written = (struct sim_written){0};
    while (!done) {
        struct sim_object *old = sim_store_ref(c->api->store, c->served->resource, key);
        if (!old) {
            c->written->refusal = sim_status_not_found(c->served->kind, key_name(key));
            return;
        }
        done = attempt(c, old);
        sim_store_release(c->api->store, old);
    }
}

/* Sets the owners after an update of `before`; `lost`: a service no longer has what it kept unseen. */
static void own(const struct sim_change *c, bool lost, const json_t *before, const json_t *body,
                json_t *after)
{
    const struct sim_kind *kind = c->served->kind;
    json_t *known = json_copy((json_t *)before);
    if (sim_kind_is(kind, "Service") && lost) {
        json_object_set_new(known, "spec", json_copy(json_object_get(before, "spec")));
        sim_default(json_object_get(known, "spec"), "internalTrafficPolicy", json_string("Cluster"));
    }
    set_owners(c->api, c->served, c->by, c->subresource, known, body, after);
    json_decref(known);
    if (!sim_is_finished(kind, after)) lose_empty_lists(kind, after);
    sim_managed_keep_times(before, after);
}

static bool try_update(struct sim_change *c, struct sim_object *old)
{
    const struct sim_served *served = c->served;
    struct others others = {c->api, served};
    struct sim_refusal refusal = {.tried = c->by.dry_run, .is_taken = is_taken, .ctx = &others};
    json_t *before = sim_served_json(served, old);
    json_t *wanted = c->body(c->ctx, served->kind, before, &refusal);
    json_t *after =
        wanted ? sim_prepare_update(served->kind, before, wanted, c->subresource, &refusal) : NULL;
    bool done = true,
         unsettled = becomes_unsettled(served->kind, old->unsettled && refusal.patched, wanted, after);
    if (after) sim_stamp(served->kind, before, after, clock_wall_us(sim_clock(c->api)) / 1000000);
    if (after) own(c, old->unsettled && !unsettled, before, wanted, after);
    json_decref(c->written->before); /* of a try that another write was faster than */
    c->written->before = json_incref(before);
    if (!after)
        c->written->refusal = refusal.status;
    else if (c->by.dry_run || stays(served->kind, before, old, after, unsettled))
        c->written->object = c->by.dry_run ? only_tried(served, old, after) : keep(c->api, old);
    else {
        bool ends = sim_is_finished(served->kind, after);
        struct sim_object *next = ends ? NULL : packed(served, after, false);
        if (next) next->unsettled = unsettled;
        done = commit(c->api, served, old, next, ends ? STEP_REMOVE : STEP_STORE, c->written);
        if (done && !ends) sim_effects_stored(c->api, served, after);
        if (done && ends) {
            sim_effects_removed(c->api, served, before);
            sim_store_release(c->api->store, c->written->object);
            c->written->object = only_tried(served, old, after); /* what was asked for, not what was stored */
        }
    }
    json_decref(before);
    json_decref(wanted);
    json_decref(after);
    return done;
}

void sim_write_update(struct sim_api *api, const struct sim_served *served, const char *key,
                      const char *subresource, sim_body_fn *body, void *ctx, struct sim_writer by,
                      struct sim_written *written)
{
    struct sim_change c = {api, served, by, written, .subresource = subresource, .body = body, .ctx = ctx};
    hold_addresses(served, true);
    perform(&c, key, try_update);
    hold_addresses(served, false);
}

static json_t *with_status(void *ctx, const struct sim_kind *kind, const json_t *old,
                           struct sim_refusal *refusal)
{
    json_t *body = json_deep_copy(old);
    json_object_set(body, "status", json_object_get(ctx, "status"));
    return body;
}

void sim_write_whole(struct sim_api *api, const struct sim_served *served, const char *namespace_,
                     json_t *object, struct sim_written *written)
{
    sim_write_create(api, served, namespace_, object, (struct sim_writer){0}, written);
    if (written->refusal || !served->kind->has_status || !json_object_get(object, "status")) return;
    char *key = xstrdup(written->object->key);
    sim_written_clear(api, written);
    sim_write_update(api, served, key, "status", with_status, object, (struct sim_writer){0}, written);
    free(key);
}

bool sim_write_accepted(struct sim_api *api, struct sim_written *written, bool may_be_gone, struct err *err)
{
    bool ok = !written->refusal || (may_be_gone && sim_status_code(written->refusal) == 404) ||
              err_set(err, ERR_INVALID, "%s", sim_text_at(written->refusal, "message"));
    sim_written_clear(api, written);
    return ok;
}

static void wait_for_the_end(struct sim_api *api, const struct sim_served *served,
                             const struct sim_object *object, const json_t *updated)
{
    int64_t grace_s = sim_int_at(updated, "metadata.deletionGracePeriodSeconds", 0);
    if (grace_s > 0 && api->terminating) api->terminating(api->ctx, served, object, grace_s * 1000);
}

static bool try_delete(struct sim_change *c, struct sim_object *old)
{
    struct sim_api *api = c->api;
    const struct sim_served *served = c->served;
    struct sim_refusal refusal = {0};
    struct fresh fresh;
    json_t *before = sim_served_json(served, old), *updated = NULL;
    bool done = true;
    freshen(api, &fresh);
    enum sim_delete_step step =
        sim_prepare_delete(served->kind, before, c->options, &fresh.now, &updated, &refusal);
    bool changes = step == SIM_DELETE_REMOVE || (updated && !json_equal(before, updated));
    json_decref(c->written->before);
    c->written->before = json_incref(before);
    if (step == SIM_DELETE_REFUSED)
        c->written->refusal = refusal.status;
    else if (c->by.dry_run || !changes) {
        c->written->object = updated ? only_tried(served, old, updated) : keep(api, old);
        c->written->removed = step == SIM_DELETE_REMOVE;
    } else {
        enum write_step how = step == SIM_DELETE_UPDATE ? STEP_STORE
                              : updated                 ? STEP_STORE_THEN_REMOVE
                                                        : STEP_REMOVE;
        done = commit(api, served, old, updated ? packed(served, updated, false) : NULL, how, c->written);
        if (done && how == STEP_STORE) wait_for_the_end(api, served, c->written->object, updated);
        if (done && how == STEP_STORE) sim_effects_deleting(api, served, updated);
        if (done && how != STEP_STORE) sim_effects_removed(api, served, before);
    }
    json_decref(before);
    json_decref(updated);
    return done;
}

void sim_write_delete(struct sim_api *api, const struct sim_served *served, const char *key,
                      const json_t *options, bool dry_run, struct sim_written *written)
{
    struct sim_change c = {api, served, {.dry_run = dry_run}, written, .options = options};
    perform(&c, key, try_delete);
}
