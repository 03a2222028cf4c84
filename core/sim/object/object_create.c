/* Creation of objects: the result of a create from its body. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "schema/rules.h"
#include "sim/object/crd.h"
#include "sim/object/defaults.h"
#include "sim/object/metadata.h"
#include "sim/object/object_rules.h"
#include "sim/object/object_spec.h"
#include "sim/object/status.h"
#include "sim/text/timestamp.h"
#include "sim/text/tree.h"

enum { GENERATED_PREFIX_MAX = 58 };

/* Sets metadata.namespace to that of the path. */
static bool place(const struct sim_kind *kind, json_t *metadata, const char *ns, struct sim_refusal *refusal)
{
    const char *own = sim_text_at(metadata, "namespace");
    if (!kind->namespaced) {
        json_object_del(metadata, "namespace");
        return true;
    }
    if (*own && ns && strcmp(own, ns) != 0)
        return sim_refuse(refusal,
                          sim_status_bad_request("the namespace of the provided object does not match the "
                                                 "namespace sent on the request"));
    json_object_set_new(metadata, "namespace", sim_string(ns));
    return true;
}

static void name_it(json_t *metadata, const char *suffix)
{
    const char *prefix = sim_text_at(metadata, "generateName");
    if (*sim_text_at(metadata, "name") || !*prefix) return;
    json_object_set_new(metadata, "name", sim_textf("%.*s%s", GENERATED_PREFIX_MAX, prefix, suffix));
}

static void stamp(const struct sim_kind *kind, json_t *metadata, const struct sim_now *now)
{
    json_object_set_new(metadata, "uid", sim_string(now->uid));
    json_object_set_new(metadata, "creationTimestamp", sim_time(now->seconds));
    if (!now->checked)
        json_object_del(metadata, "deletionTimestamp"); /* what an update creates may have it */
    if (!now->checked) json_object_del(metadata, "deletionGracePeriodSeconds");
    if (kind->has_generation) json_object_set_new(metadata, "generation", json_integer(1));
}

/* Takes the causes of metadata. */
static bool check(const struct sim_kind *kind, const json_t *object, const json_t *given,
                  const struct sim_now *now, json_t *causes, struct sim_refusal *refusal)
{
    const json_t *metadata = json_object_get(object, "metadata");
    const char *version = sim_text_at(metadata, "resourceVersion");
    uint64_t number;
    const struct schema_rule_set *rules = kind->schema ? schema_rule_set(kind->kind) : NULL;
    json_t *more = sim_spec_causes(kind, NULL, object, sim_is_crd(kind) && !now->checked);
    if (now->checked) sim_add_rule_causes(kind, NULL, object, given, more);
    if (rules && rules->free && json_array_size(more)) json_array_clear(causes);
    json_array_extend(causes, more);
    json_decref(more);
    if (json_array_size(causes))
        return sim_refuse(refusal, sim_status_invalid_causes(kind, sim_text_at(metadata, "name"), causes));
    json_decref(causes);
    if (str_to_u64(str_of(version), &number) && number && !now->tried) /* one that is no number is ignored */
        return sim_refuse(
            refusal,
            sim_status(500, NULL, "resourceVersion should not be set on objects to be created", NULL, NULL));
    return true;
}

json_t *sim_prepare_create(const struct sim_kind *kind, const json_t *body, const char *ns,
                           const struct sim_now *now, struct sim_refusal *refusal)
{
    refusal->status = NULL;
    if (!sim_check_body(kind, body, refusal) || !sim_check_kind(kind, body, refusal)) return NULL;
    json_t *object = now->checked ? sim_typed(kind, body) : sim_normalized(kind, body),
           *metadata = json_object_get(object, "metadata");
    bool good = place(kind, metadata, ns, refusal);
    if (good) {
        name_it(metadata, kind->names == SCHEMA_ANY ? "" : now->suffix); /* a part of a name is none there */
        if (strcmp(kind->kind, "LimitRange") == 0 && !*sim_text_at(metadata, "name"))
            json_object_set_new(metadata, "name", sim_string(now->uid));
        stamp(kind, metadata, now);
        good = !now->checked || sim_service_begin(kind, NULL, object, now->tried, refusal);
    }
    if (good) {
        sim_apply_defaults(kind, object);
        json_t *causes = json_array();
        sim_metadata_causes(kind, object, SIM_CHECK_ALL,
                            causes); /* before a job has the labels of its pods */
        sim_apply_first(kind, object);
        good = check(kind, object, body, now, causes, refusal);
    }
    if (!good) {
        json_decref(object);
        return NULL;
    }
    if (!now->tried) json_object_del(metadata, "resourceVersion");
    if (sim_is_crd(kind)) sim_crd_do("begin", object, now->seconds, NULL);
    sim_tidy_metadata(object);
    return object;
}
