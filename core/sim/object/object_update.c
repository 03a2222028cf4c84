/* Update of objects: the result of an update from its body and the existing object. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "sim/object/crd.h"
#include "sim/object/defaults.h"
#include "sim/object/metadata.h"
#include "sim/object/object_rules.h"
#include "sim/object/object_spec.h"
#include "sim/object/status.h"
#include "sim/text/json_error.h"
#include "sim/text/tree.h"
#include "sim/validate/decode.h"

static const char *meta(const json_t *object, const char *key)
{
    return sim_text_at(json_object_get(object, "metadata"), key);
}

static bool is(const char *subresource, const char *name)
{
    return subresource && strcmp(subresource, name) == 0;
}

bool sim_check_identity(const char *name, const char *ns, const json_t *body, struct sim_refusal *refusal)
{
    const char *own = meta(body, "name"), *own_ns = meta(body, "namespace");
    if (nonempty(ns) && *own_ns && strcmp(own_ns, ns) != 0)
        return sim_refuse(refusal,
                          sim_status_bad_request(
                              "the namespace of the provided object does not match the namespace sent on "
                              "the request"));
    if (!*own)
        return sim_refuse(
            refusal,
            sim_status_bad_request("the name of the object (%s based on URL) was undeterminable: name must "
                                   "be provided",
                                   name));
    if (strcmp(own, name) != 0)
        return sim_refuse(
            refusal, sim_status_bad_request(
                         "the name of the object (%s) does not match the name on the URL (%s)", own, name));
    return true;
}

/* Checks the version: only digits are valid; none and "0" skip the check, where the kind allows that. */
static bool check_version(const struct sim_kind *kind, const json_t *old, const json_t *body,
                          struct sim_refusal *refusal)
{
    const char *name = meta(old, "name"), *version = meta(body, "resourceVersion");
    uint64_t number = 0;
    if (*version && !str_to_u64(str_of(version), &number)) {
        json_t *message =
            sim_textf("strconv.ParseUint: parsing \"%s\": %s", version, sim_number_problem(version));
        refusal->status = sim_status(500, NULL, json_string_value(message), NULL, NULL);
        json_decref(message);
        return false;
    }
    if (number == 0 && !kind->needs_version) return true;
    if (number == 0) {
        /* The real server has the resource here instead of the kind. */
        struct sim_kind named = *kind;
        json_t *zero = json_integer(0);
        named.kind = kind->plural;
        refusal->status = sim_status_invalid(&named, name, "FieldValueInvalid", "metadata.resourceVersion",
                                             zero, "must be specified for an update");
        json_decref(zero);
        return false;
    }
    if (strcmp(version, meta(old, "resourceVersion")) == 0) return true;
    return sim_refuse(refusal, sim_status_modified(kind, name));
}

/* Returns the key under which a real server stores the object: messages have it. A new string. */
static char *storage_key(const struct sim_kind *kind, const json_t *object, bool tried)
{
    static const char *const old_names[][2] = {{"services", "services/specs"},
                                               {"endpoints", "services/endpoints"},
                                               {"nodes", "minions"},
                                               {"replicationcontrollers", "controllers"},
                                               {"ingresses", "ingress"}};
    const char *ns = meta(object, "namespace"), *resource = kind->plural;
    bool own_folder = kind->custom || strcmp(kind->group, "apiextensions.k8s.io") == 0;
    for (size_t i = 0; i < ARRAY_LEN(old_names) && !own_folder; i++)
        if (strcmp(kind->plural, old_names[i][0]) == 0) resource = old_names[i][1];
    return xasprintf("%s/%s%s%s/%s%s%s", tried ? "" : "/registry", own_folder ? kind->group : "",
                     own_folder ? "/" : "", resource, ns, *ns ? "/" : "", meta(object, "name"));
}

bool sim_check_uid(const struct sim_kind *kind, const json_t *old, const json_t *body,
                   struct sim_refusal *refusal)
{
    const char *uid = meta(body, "uid");
    if (!*uid || strcmp(uid, meta(old, "uid")) == 0 || refusal->patched) return true;
    char *key = storage_key(kind, old, refusal->tried);
    json_t *status =
        sim_status_conflict(kind, meta(old, "name"),
                            "StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, "
                            "AdditionalErrorMsg: Precondition failed: UID in precondition: %s, "
                            "UID in object meta: %s",
                            key, uid, meta(old, "uid"));
    free(key);
    return sim_refuse(refusal, status);
}

/* `from` is a copy of our own, so that its values may be shared. */
static void copy_field(json_t *to, const json_t *from, const char *key)
{
    json_t *value = json_object_get(from, key);
    if (value)
        json_object_set(to, key, value);
    else
        json_object_del(to, key);
}

/* Keeps the fields that no update changes. An update cannot begin or revoke a deletion. */
static void keep_system_fields(const struct sim_kind *kind, json_t *object, const json_t *old, json_t *causes)
{
    static const char *const kept[] = {"namespace", "resourceVersion", "generation", "creationTimestamp"};
    static const char *const deletion[] = {"deletionTimestamp", "deletionGracePeriodSeconds"};
    static const char *const paths[] = {"metadata.deletionTimestamp", "metadata.deletionGracePeriodSeconds"};
    json_t *metadata = json_object_get(object, "metadata");
    const json_t *before = json_object_get(old, "metadata");
    const json_t *uid = json_object_get(metadata, "uid");
    if (*sim_text_at(uid, "") && !json_equal((json_t *)uid, json_object_get(before, "uid")))
        json_array_append_new(causes,
                              sim_cause("FieldValueInvalid", "metadata.uid", uid, "field is immutable"));
    else /* what is refused keeps the wrong one, to which other rules compare */
        copy_field(metadata, before, "uid");
    for (size_t i = 0; i < ARRAY_LEN(kept); i++) copy_field(metadata, before, kept[i]);
    for (size_t i = 0; i < ARRAY_LEN(deletion); i++) {
        const json_t *wanted = json_object_get(metadata, deletion[i]);
        if (wanted && !json_object_get(before, deletion[i]))
            json_array_append_new(causes,
                                  sim_cause("FieldValueInvalid", paths[i], wanted, "field is immutable"));
        copy_field(metadata, before, deletion[i]);
    }
    if (!json_object_get(metadata, "managedFields")) copy_field(metadata, before, "managedFields");
}

/* Kinds whose status leaves more alone than the spec, or whose requests write less. */
static const struct sim_alone all_alone[] = {
    {"Pod", "status", "metadata", "deletionTimestamp"},
    {"Pod", "status", "metadata", "ownerReferences"},
    {"Pod", "status", "status", "qosClass"},
    {"Deployment", "status", "metadata", "labels"},
    {"VolumeAttachment", "status", "metadata", NULL},
    {"FlowSchema", "status", "metadata", NULL},
    {"PriorityLevelConfiguration", "status", "metadata", NULL},
    {"ServiceCIDR", "status", "metadata", NULL},
    {"ResourceClaim", "status", "metadata", NULL},
    {"DeviceTaintRule", "status", "metadata", NULL},
    {"APIService", "status", "metadata", NULL},
    {"ValidatingAdmissionPolicy", "status", "metadata", NULL},
    {"CertificateSigningRequest", "", "spec", NULL},
    {"CertificateSigningRequest", "status", "status", "conditions"},
    {"CertificateSigningRequest", "approval", "spec", NULL},
    {"CertificateSigningRequest", "approval", "status", "certificate"},
};

const struct sim_alone *sim_next_alone(const struct sim_kind *kind, const char *subresource, size_t *at)
{
    while (!kind->custom && *at < ARRAY_LEN(all_alone)) {
        const struct sim_alone *one = &all_alone[(*at)++];
        if (strcmp(one->kind, kind->kind) == 0 && strcmp(one->subresource, subresource) == 0) return one;
    }
    return NULL;
}

static void keep_alone(const struct sim_kind *kind, json_t *object, const json_t *old,
                       const char *subresource)
{
    const struct sim_alone *one;
    for (size_t at = 0; (one = sim_next_alone(kind, subresource ? subresource : "", &at));)
        if (one->below && strcmp(one->below, "conditions") != 0) /* which are checked one by one */
            copy_field(sim_submap(object, one->name), json_object_get(old, one->name), one->below);
        else if (!one->below && strcmp(one->name, "metadata") != 0)
            copy_field(object, old, one->name);
}

/* Kinds whose status leaves all metadata as it is. */
static bool is_metadata_alone(const struct sim_kind *kind)
{
    size_t at = 0;
    const struct sim_alone *one = sim_next_alone(kind, "status", &at);
    return kind->custom || (one && !one->below && strcmp(one->name, "metadata") == 0);
}

/* Keeps everything except the status, for the status subresource; of some kinds all metadata but
 * managedFields, too. */
static void only_status(const struct sim_kind *kind, json_t *object, const json_t *old)
{
    const char *key;
    json_t *value, *status = json_incref(json_object_get(object, "status"));
    json_t *metadata = json_incref(json_object_get(object, "metadata"));
    json_object_clear(object);
    json_object_foreach ((json_t *)old, key, value) json_object_set(object, key, value);
    if (status)
        json_object_set_new(object, "status", status);
    else
        json_object_del(object, "status");
    if (is_metadata_alone(kind)) {
        json_t *kept = json_copy(json_object_get(old, "metadata"));
        copy_field(kept, metadata, "managedFields"); /* they tell who wrote the status */
        json_object_set_new(object, "metadata", kept);
        json_decref(metadata);
        return;
    }
    json_object_set_new(object, "metadata", metadata);
}

/* Keeps the parts that belong to other requests, the status and a namespace's finalizers, and what a body
 * omits of a secret's type. */
static void keep_other_parts(const struct sim_kind *kind, json_t *object, const json_t *old,
                             const char *subresource)
{
    if (kind->has_status && !is(subresource, "approval") && !is(subresource, "binding"))
        copy_field(object, old, "status");
    if (sim_is_namespace(kind) && !subresource) {
        json_t *spec = sim_submap(object, "spec");
        copy_field(spec, json_object_get(old, "spec"), "finalizers");
    }
    if (strcmp(kind->kind, "Secret") == 0 && !*kind->group && !*sim_text_at(object, "type"))
        copy_field(object, old, "type");
}

static bool differ_in(const json_t *old, const json_t *object, const char *name)
{
    const json_t *before = json_object_get(old, name), *after = json_object_get(object, name);
    return before != after && !(before && after && json_equal(before, after));
}

/* Go's reflect.DeepEqual takes an empty list for another one than none, which is what is read from storage.
 */
static bool gives_empty(const struct sim_kind *kind, const json_t *body)
{
    struct sim_decoding decoding = {.keeps = true};
    json_t *given = sim_decode(schema_type_of_kind(kind->schema), body, &decoding),
           *typed = sim_typed(kind, body);
    bool empty = given && (differ_in(given, typed, "spec") || differ_in(given, typed, "webhooks"));
    free(decoding.error);
    json_decref(decoding.unknown);
    json_decref(given);
    json_decref(typed);
    return empty;
}

/* Custom objects are compared completely but for metadata and status. */
static bool wants_other_custom(const struct sim_kind *kind, const json_t *old, const json_t *object)
{
    static const char *const apart[] = {"metadata", "kind", "apiVersion", "status"};
    json_t *before = json_copy((json_t *)old), *after = json_copy((json_t *)object);
    for (size_t i = 0; i < ARRAY_LEN(apart) - !kind->has_status; i++) {
        json_object_del(before, apart[i]);
        json_object_del(after, apart[i]);
    }
    bool other = !json_equal(before, after);
    json_decref(before);
    json_decref(after);
    return other;
}

/* Returns whether the change raises the generation. */
static bool wants_other(const struct sim_kind *kind, const json_t *old, const json_t *object,
                        const json_t *body)
{
    static const char *const counted[] = {"spec", "webhooks", "template", "endpoints", "ports"};
    if (kind->custom) return wants_other_custom(kind, old, object);
    bool exact = strcmp(kind->kind, "NetworkPolicy") == 0 || strstr(kind->kind, "WebhookConfiguration");
    if (exact && gives_empty(kind, body)) return true;
    for (size_t i = 0; i < ARRAY_LEN(counted); i++)
        if (differ_in(old, object, counted[i])) return true;
    return strcmp(kind->kind, "Deployment") == 0 &&
           differ_in(json_object_get(old, "metadata"), json_object_get(object, "metadata"), "annotations");
}

/* The old API counted the templates of a set. */
static void count_template(json_t *set, const json_t *old)
{
    static const char name[] = "deprecated.daemonset.template.generation";
    json_t *before = sim_at(old, "metadata.annotations"), *template = sim_at(set, "spec.template"),
           *annotations = sim_submap(sim_submap(set, "metadata"), "annotations");
    long long count = strtoll(sim_text_at(json_object_get(before, name), ""), NULL, 10);
    count += !json_equal(sim_at(old, "spec.template"), template);
    json_object_set_new(annotations, name, sim_textf("%lld", count));
}

/* `old` with its defaults, which an object that was not written through here may lack. */
static json_t *update(const struct sim_kind *kind, const json_t *old, const json_t *body,
                      const char *subresource, struct sim_refusal *refusal)
{
    json_t *object = sim_typed(kind, body), *causes = json_array();
    bool to_status = is(subresource, "status"), counts = !to_status && !is(subresource, "binding");
    if (to_status && sim_takes_labels(kind)) sim_apply_defaults(kind, object); /* by its own template */
    if (to_status)
        only_status(kind, object, old);
    else
        keep_other_parts(kind, object, old, subresource);
    if (!to_status && !sim_service_begin(kind, old, object, refusal->tried, refusal)) {
        json_decref(causes);
        json_decref(object);
        return NULL;
    }
    keep_alone(kind, object, old, subresource);
    keep_system_fields(kind, object, old, causes);
    sim_apply_defaults(kind, object);
    if (to_status && sim_takes_labels(kind) &&
        sim_is_finished(kind, object)) /* nothing reads it again, and defaults its labels */
        copy_field(json_object_get(object, "metadata"), json_object_get(body, "metadata"), "labels");
    if (sim_is_crd(kind) && !subresource) sim_crd_do("store", object, 0, NULL);
    if (sim_kind_is(kind, "DaemonSet")) count_template(object, old);
    if (kind->has_generation && counts && wants_other(kind, old, object, body)) {
        int64_t generation = sim_int_at(old, "metadata.generation", 0);
        json_object_set_new(json_object_get(object, "metadata"), "generation", json_integer(generation + 1));
    }
    sim_tidy_metadata(object);
    if (refusal->tried) /* nothing but storing it drops it */
        copy_field(json_object_get(object, "metadata"), json_object_get(body, "metadata"), "selfLink");
    if (sim_check_update(kind, old, object, body, subresource, causes, refusal)) {
        sim_service_finish(kind, object);
        return object;
    }
    json_decref(object);
    return NULL;
}

bool sim_check_created_by_update(const struct sim_kind *kind, json_t *body, const char *name, const char *ns,
                                 struct sim_refusal *refusal)
{
    const char *uid = meta(body, "uid");
    if (refusal->patched && *uid) /* by what is applied */
        return sim_refuse(refusal,
                          sim_status_conflict(kind, name,
                                              "uid mismatch: the provided object specified uid %s, and no "
                                              "existing object was found",
                                              uid));
    json_t *metadata = json_object_get(body, "metadata"), *nothing = json_copy(body);
    json_t *none = json_copy(metadata);
    struct sim_kind any = *kind;
    any.needs_version = false;
    json_object_del(none, "uid");
    json_object_set_new(none, "namespace", sim_string(ns));
    json_object_set_new(nothing, "metadata", none);
    bool good = sim_check_identity(name, ns, body, refusal) && sim_check_uid(kind, nothing, body, refusal) &&
                check_version(&any, nothing, body, refusal);
    if (!refusal->tried) json_object_del(metadata, "resourceVersion");
    json_decref(nothing);
    return good;
}

json_t *sim_prepare_update(const struct sim_kind *kind, const json_t *old, const json_t *body,
                           const char *subresource, struct sim_refusal *refusal)
{
    refusal->status = NULL;
    if (!sim_check_body(kind, body, refusal) ||
        !sim_check_identity(meta(old, "name"), kind->namespaced ? meta(old, "namespace") : NULL, body,
                            refusal) ||
        !sim_check_uid(kind, old, body, refusal) || !check_version(kind, old, body, refusal) ||
        !sim_check_kind(kind, body, refusal))
        return NULL;
    json_t *before = sim_typed(kind, old);
    sim_apply_defaults(kind, before);
    json_t *object = update(kind, before, body, subresource, refusal);
    if (object && json_equal(object, before)) {
        json_decref(object);
        object = json_deep_copy(old);
    }
    json_decref(before);
    return object;
}
