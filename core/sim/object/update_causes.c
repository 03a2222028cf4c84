/* Reasons to refuse an update: the causes of its metadata and of its kind, in a server's order. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "schema/rules.h"
#include "sim/object/metadata.h"
#include "sim/object/object_spec.h"
#include "sim/object/status.h"
#include "sim/text/tree.h"
#include "sim/validate/rules.h"

static void check_finalizers(const json_t *object, const json_t *old, json_t *causes)
{
    json_t *finalizer;
    size_t i;
    json_t *seen = json_array();
    json_array_foreach (
        *sim_text_at(old, "metadata.deletionTimestamp") ? sim_at(object, "metadata.finalizers") : NULL, i,
        finalizer) {
        const char *name = sim_text_at(finalizer, "");
        if (sim_has_text(sim_at(old, "metadata.finalizers"), name) || sim_has_text(seen, name)) continue;
        json_array_append(seen, finalizer);
        char *detail =
            xasprintf("no new finalizers can be added if the object is being deleted, found new finalizers "
                      "[]string{\"%s\"}",
                      name);
        json_array_append_new(causes, sim_cause("FieldValueForbidden", "metadata.finalizers", NULL, detail));
        free(detail);
    }
    json_decref(seen);
}

/* Appends the causes of a kind's rules with, in the place of rules for its metadata, what these find: a
 * server finds the same once more. `update` are those of what an update must not do. */
static void add_causes(const struct sim_kind *kind, const json_t *object, const json_t *rules, json_t *update,
                       json_t *causes)
{
    json_t *cause;
    size_t i;
    json_array_foreach ((json_t *)rules, i, cause) {
        if (json_is_object(cause) || json_is_null(cause))
            json_array_append(causes, cause);
        else if (json_integer_value(cause) == SCHEMA_CHECK_REVALIDATED)
            sim_metadata_causes(kind, object, SIM_CHECK_ALL, causes);
        else {
            json_array_extend(causes, update);
            sim_metadata_causes(kind, object, SIM_CHECK_LABELS | SIM_CHECK_KNOWN_FINALIZERS, causes);
        }
    }
}

bool sim_check_update(const struct sim_kind *kind, const json_t *old, const json_t *object,
                      const json_t *given, const char *subresource, json_t *update,
                      struct sim_refusal *refusal)
{
    bool of_status = subresource && strcmp(subresource, "status") == 0;
    char *set = xasprintf("%s%s", of_status ? "status of " : "", kind->kind);
    const struct schema_rule_set *rules =
        kind->schema && (of_status || !subresource) ? schema_rule_set(set) : NULL;
    json_t *causes = json_array(), *more = json_array(),
           *spec = sim_spec_causes(kind, old, object, of_status);
    check_finalizers(object, old, update);
    sim_metadata_causes(kind, object, SIM_CHECK_LABELS | SIM_CHECK_FINALIZERS, causes);
    json_array_extend(causes, update);
    sim_metadata_causes(kind, object, SIM_CHECK_LABELS, causes);
    if (!rules || !rules->places_metadata) json_array_append_new(more, json_integer(SCHEMA_CHECK_CHANGED));
    sim_csr_check(kind, old, object, subresource, more);
    json_array_extend(more, spec);
    if (!subresource) sim_add_rule_causes(kind, old, object, given, more);
    if (of_status && rules) sim_rules_check(set, old, object, NULL, more);
    add_causes(kind, object, more, update, causes);
    json_decref(spec);
    json_decref(more);
    json_decref(update);
    free(set);
    if (!subresource && kind->graceful) sim_add_pod_change_causes(old, object, causes);
    if (json_array_size(causes) == 0) {
        json_decref(causes);
        return true;
    }
    return sim_refuse(refusal, sim_status_invalid_causes(kind, sim_text_at(old, "metadata.name"), causes));
}
