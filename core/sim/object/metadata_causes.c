/* Problems of metadata: names, labels, annotations, owners and finalizers; see metadata.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "schema/rules.h"
#include "sim/object/crd.h"
#include "sim/object/kind.h"
#include "sim/object/metadata.h"
#include "sim/object/status.h"
#include "sim/text/names.h"
#include "sim/text/tree.h"
#include "sim/validate/rules.h"

enum { ANNOTATIONS_MAX = 256 * 1024 };

/* Checks a prefix of generated names. The suffix makes a dash at its end valid. */
static bool check_prefix(bool (*check)(struct str, struct buf *), const char *prefix, struct buf *problems)
{
    char *likely = xstrdup(prefix);
    size_t n = strlen(likely);
    if (n > 1 && likely[n - 1] == '-') {
        likely[n - 2] = 'a';
        n--;
    }
    bool good = check((struct str){likely, n}, problems);
    free(likely);
    return good;
}

static void check_name(const struct sim_kind *kind, json_t *causes, const json_t *object)
{
    struct buf problems = {0};
    const char *name = sim_text_at(object, "metadata.name"),
               *prefix = sim_text_at(object, "metadata.generateName");
    static bool (*const checks[])(struct str, struct buf *) = {[SCHEMA_SUBDOMAIN] = sim_check_subdomain,
                                                               [SCHEMA_LABEL] = sim_check_label,
                                                               [SCHEMA_PATH] = sim_check_segment,
                                                               [SCHEMA_ANY] = NULL};
    bool (*check)(struct str, struct buf *) = checks[kind->names];
    if (check && *prefix && !check_prefix(check, prefix, &problems))
        sim_add_problems(causes, "metadata.generateName", prefix, &problems);
    if (sim_is_crd(kind)) sim_crd_check_name(object, "metadata.generateName", causes);
    if (!*name)
        json_array_append_new(causes, sim_cause("FieldValueRequired", "metadata.name", NULL,
                                                "name or generateName is required"));
    else if (check && !check(str_of(name), &problems))
        sim_add_problems(causes, "metadata.name", name, &problems);
    if (sim_is_crd(kind)) sim_crd_check_name(object, "metadata.name", causes);
}

static void check_size(json_t *causes, const json_t *annotations)
{
    const char *key;
    json_t *value;
    size_t size = 0;
    json_object_foreach ((json_t *)annotations, key, value) size += strlen(key) + json_string_length(value);
    if (size > ANNOTATIONS_MAX)
        json_array_append_new(causes, sim_cause("FieldValueTooLong", "metadata.annotations", NULL,
                                                "may not be more than 262144 bytes"));
}

void sim_metadata_causes(const struct sim_kind *kind, const json_t *object, int checks, json_t *causes)
{
    const json_t *metadata = json_object_get(object, "metadata");
    const struct schema_rule_set *rules = kind->schema ? schema_rule_set(kind->kind) : NULL;
    bool any = kind->custom || sim_is_crd(kind) || (rules && rules->any_finalizers);
    if (checks & SIM_CHECK_NAME) check_name(kind, causes, object);
    if (checks & SIM_CHECK_LABELS) {
        sim_rules_check("labels", NULL, metadata, NULL, causes);
        check_size(causes, json_object_get(metadata, "annotations"));
        sim_rules_check("owners", NULL, metadata, NULL, causes);
    }
    if (checks & SIM_CHECK_FINALIZERS) sim_rules_check("finalizers", NULL, metadata, NULL, causes);
    if (checks & SIM_CHECK_KNOWN_FINALIZERS && !any)
        sim_rules_check("known finalizers", NULL, metadata, NULL, causes);
}
