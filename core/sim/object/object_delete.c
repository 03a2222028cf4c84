/* Deletion of objects: at once, by an update first, or by an update that waits for finalizers or a grace
 * period. */
#include <stdlib.h>
#include <string.h>

#include "base/civil.h"
#include "base/mem.h"
#include "sim/object/crd.h"
#include "sim/object/metadata.h"
#include "sim/object/object_rules.h"
#include "sim/object/status.h"
#include "sim/text/timestamp.h"
#include "sim/text/tree.h"

static bool has_finalizers(const struct sim_kind *kind, const json_t *object)
{
    return json_array_size(sim_at(object, "metadata.finalizers")) > 0 ||
           (sim_is_namespace(kind) && json_array_size(sim_at(object, "spec.finalizers")) > 0);
}

bool sim_is_finished(const struct sim_kind *kind, const json_t *object)
{
    return *sim_text_at(object, "metadata.deletionTimestamp") && !has_finalizers(kind, object) &&
           sim_int_at(object, "metadata.deletionGracePeriodSeconds", 0) == 0;
}

static bool check_preconditions(const struct sim_kind *kind, const json_t *old, const json_t *options,
                                struct sim_refusal *refusal)
{
    static const struct {
        const char *precondition, *field, *label, *hint;
    } checks[] = {
        {"preconditions.uid", "metadata.uid", "UID", "The object might have been deleted and then recreated"},
        {"preconditions.resourceVersion", "metadata.resourceVersion", "ResourceVersion",
         "The object might have been modified"},
    };
    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        const char *there = sim_text_at(old, checks[i].field);
        const json_t *wanted = sim_at(options, checks[i].precondition);
        if (!json_is_string(wanted) || strcmp(json_string_value(wanted), there) == 0) continue;
        if (sim_is_namespace(kind) || sim_is_crd(kind)) /* which look themselves */
            return sim_refuse(
                refusal,
                sim_status_conflict(kind, sim_text_at(old, "metadata.name"),
                                    "Precondition failed: %s in precondition: %s, %s in object meta: %s",
                                    checks[i].label, json_string_value(wanted), checks[i].label, there));
        /* The real server has the kind here instead of the resource. */
        struct sim_kind named = *kind;
        named.plural = kind->kind;
        return sim_refuse(
            refusal, sim_status_conflict(
                         &named, sim_text_at(old, "metadata.name"),
                         "the %s in the precondition (%s) does not match the %s in record (%s). %s",
                         checks[i].label, json_string_value(wanted), checks[i].label, there, checks[i].hint));
    }
    return true;
}

/* Admission keeps the namespaces without which a cluster does not work. */
static bool check_lasting(const struct sim_kind *kind, const json_t *old, struct sim_refusal *refusal)
{
    static const char *const lasting[] = {"default", "kube-system", "kube-public"};
    const char *name = sim_text_at(old, "metadata.name");
    for (size_t i = 0; i < ARRAY_LEN(lasting) && sim_is_namespace(kind); i++)
        if (strcmp(name, lasting[i]) == 0)
            return sim_refuse(refusal, sim_status_forbidden(kind, name, "this namespace may not be deleted"));
    return true;
}

/* Returns the grace period of a pod that is deleted now, in seconds. */
static int64_t grace_of_pod(const json_t *pod, const json_t *options)
{
    const char *phase = sim_text_at(pod, "status.phase");
    int64_t grace = sim_int_at(pod, "spec.terminationGracePeriodSeconds", 30);
    grace = sim_int_at(options, "gracePeriodSeconds", grace);
    if (!*sim_text_at(pod, "spec.nodeName")) return 0;
    if (strcmp(phase, "Failed") == 0 || strcmp(phase, "Succeeded") == 0) return 0;
    return grace < 0 ? 1 : grace;
}

static void mark(json_t *object, int64_t at_s, int64_t grace_s)
{
    json_t *metadata = sim_submap(object, "metadata");
    json_object_set_new(metadata, "deletionTimestamp", sim_time(at_s));
    json_object_set_new(metadata, "deletionGracePeriodSeconds", json_integer(grace_s));
}

static void raise_generation(json_t *object)
{
    int64_t generation = sim_int_at(object, "metadata.generation", 0);
    if (generation > 0)
        json_object_set_new(json_object_get(object, "metadata"), "generation", json_integer(generation + 1));
}

/* Marks an object without a grace period that waits for its finalizers. */
static void wait_for_finalizers(json_t *object, int64_t now_s)
{
    int64_t at_s;
    bool marked = civil_read_utc(str_of(sim_text_at(object, "metadata.deletionTimestamp")), &at_s);
    if (!marked) raise_generation(object);
    mark(object, marked && at_s < now_s ? at_s : now_s, 0);
}

/* Shortens the grace period of a pod that is being deleted; it never grows. Returns false if nothing changes.
 */
static bool shorten(json_t *pod, const json_t *options, int64_t now_s)
{
    int64_t grace = sim_int_at(pod, "metadata.deletionGracePeriodSeconds", 0), at_s = now_s;
    int64_t wanted = sim_int_at(options, "gracePeriodSeconds", grace);
    if (wanted < 0) wanted = 1;
    if (wanted >= grace) return false;
    civil_read_utc(str_of(sim_text_at(pod, "metadata.deletionTimestamp")), &at_s);
    at_s += wanted - grace;
    if (at_s < now_s) {
        at_s = now_s;
        if (wanted != 0) wanted = 1;
    }
    mark(pod, at_s, wanted);
    return true;
}

/* Deletes a pod; `object` is a copy of it. */
static enum sim_delete_step delete_pod(const struct sim_kind *kind, json_t *object, const json_t *options,
                                       int64_t now_s)
{
    bool marked = *sim_text_at(object, "metadata.deletionTimestamp") != '\0';
    if (marked && !shorten(object, options, now_s)) return SIM_DELETE_UPDATE;
    if (!marked) {
        int64_t grace = grace_of_pod(object, options);
        raise_generation(object);
        mark(object, now_s + grace, grace);
    }
    bool waits =
        has_finalizers(kind, object) || sim_int_at(object, "metadata.deletionGracePeriodSeconds", 0) > 0;
    return waits ? SIM_DELETE_UPDATE : SIM_DELETE_REMOVE;
}

/* Marks a namespace: its content is deleted first, by a controller that then empties spec.finalizers. */
static void delete_namespace(json_t *object, int64_t now_s)
{
    sim_default(sim_submap(object, "metadata"), "deletionTimestamp", sim_time(now_s));
    json_object_set_new(sim_submap(object, "status"), "phase", json_string("Terminating"));
}

/* --- finalizers of garbage collection, which its controller takes away */

#define ORPHAN     "orphan"
#define FOREGROUND "foregroundDeletion"

/* Returns whether the deletion gets this finalizer: options decide; without them it keeps the one that it
 * has.
 */
static bool wants(bool collects_none, const json_t *object, const json_t *options, const char *policy,
                  const char *finalizer, bool otherwise)
{
    const json_t *orphans = json_object_get(options, "orphanDependents");
    const char *given = sim_text_at(options, "propagationPolicy");
    bool orphan = strcmp(finalizer, ORPHAN) == 0;
    if (collects_none) return false;
    if (json_is_boolean(orphans)) return orphan && json_is_true(orphans);
    if (*given) return strcmp(given, policy) == 0;
    if (sim_has_text(sim_at(object, "metadata.finalizers"), finalizer)) return true;
    return otherwise && !sim_has_text(sim_at(object, "metadata.finalizers"), FOREGROUND);
}

static void set_collection_finalizers(const struct sim_kind *kind, json_t *object, const json_t *options)
{
    bool none = sim_kind_is(kind, "Event"); /* own nothing */
    /* Jobs and the like leave their pods if nothing is said, for the sake of old clients. */
    bool orphan = wants(none, object, options, "Orphan", ORPHAN, sim_takes_labels(kind));
    bool foreground = wants(none, object, options, "Foreground", FOREGROUND, false);
    json_t *finalizers = json_array(), *finalizer;
    size_t i;
    json_array_foreach (sim_at(object, "metadata.finalizers"), i, finalizer)
        if (strcmp(sim_text_at(finalizer, ""), ORPHAN) != 0 &&
            strcmp(sim_text_at(finalizer, ""), FOREGROUND) != 0)
            json_array_append(finalizers, finalizer);
    if (orphan) json_array_append_new(finalizers, json_string(ORPHAN));
    if (foreground) json_array_append_new(finalizers, json_string(FOREGROUND));
    json_object_set_new(json_object_get(object, "metadata"), "finalizers", finalizers);
}

enum sim_delete_step sim_prepare_delete(const struct sim_kind *kind, const json_t *old, const json_t *options,
                                        const struct sim_now *now, json_t **updated,
                                        struct sim_refusal *refusal)
{
    bool marked = *sim_text_at(old, "metadata.deletionTimestamp") != '\0';
    bool graced = sim_int_at(old, "metadata.deletionGracePeriodSeconds", 0) != 0;
    enum sim_delete_step step = SIM_DELETE_UPDATE;
    refusal->status = NULL;
    *updated = NULL;
    if (!check_preconditions(kind, old, options, refusal) || !check_lasting(kind, old, refusal))
        return SIM_DELETE_REFUSED;

    json_t *object = json_deep_copy(old);
    if (sim_is_crd(kind) && !marked) {
        sim_crd_do("mark", *updated = object, now->seconds, NULL);
        return step;
    }
    if (!(kind->graceful && marked && graced)) set_collection_finalizers(kind, object, options);
    if (kind->graceful && (!marked || graced)) {
        step = delete_pod(kind, object, options, now->seconds);
    } else if (has_finalizers(kind, object) || (sim_is_namespace(kind) && !marked)) {
        if (sim_is_namespace(kind))
            delete_namespace(object, now->seconds);
        else
            wait_for_finalizers(object, now->seconds);
    } else {
        json_decref(object);
        return SIM_DELETE_REMOVE;
    }
    sim_tidy_metadata(object);
    *updated = object;
    return step;
}
