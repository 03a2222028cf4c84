/* The kinds that a CustomResourceDefinition defines, and its status. */
#include "sim/object/crd.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/object/version_order.h"
#include "sim/text/timestamp.h"
#include "sim/text/tree.h"

bool sim_is_crd(const struct sim_kind *kind)
{
    return strcmp(kind->kind, "CustomResourceDefinition") == 0 &&
           strcmp(kind->group, "apiextensions.k8s.io") == 0;
}

/* An array of new strings that ends with NULL; NULL for an empty list. */
static const char *const *texts_of(const json_t *list)
{
    size_t n = json_array_size(list);
    if (n == 0) return NULL;
    const char **texts = xcalloc(n + 1, sizeof *texts);
    for (size_t i = 0; i < n; i++) texts[i] = xstrdup(sim_text_at(json_array_get(list, i), ""));
    return texts;
}

static char *lower(const char *text)
{
    char *copy = xstrdup(text);
    for (char *p = copy; *p; p++) *p = (char)tolower((unsigned char)*p);
    return copy;
}

static struct sim_kind *kind_of(const json_t *spec, const json_t *version)
{
    struct sim_kind *kind = NEW(struct sim_kind);
    const json_t *names = json_object_get(spec, "names");
    const char *name = sim_text_at(names, "kind"), *list_kind = sim_text_at(names, "listKind");
    const char *singular = sim_text_at(names, "singular");
    kind->group = xstrdup(sim_text_at(spec, "group"));
    kind->version = xstrdup(sim_text_at(version, "name"));
    kind->plural = xstrdup(sim_text_at(names, "plural"));
    kind->singular = *singular ? xstrdup(singular) : lower(name);
    kind->kind = xstrdup(name);
    kind->list_kind = *list_kind ? xstrdup(list_kind) : xasprintf("%sList", name);
    kind->short_names = texts_of(json_object_get(names, "shortNames"));
    kind->categories = texts_of(json_object_get(names, "categories"));
    kind->namespaced = strcmp(sim_text_at(spec, "scope"), "Namespaced") == 0;
    kind->has_status = json_is_object(sim_at(version, "subresources.status"));
    kind->has_generation = true;
    kind->needs_version = true;
    kind->custom = true;
    kind->not_storage = !sim_true_at(version, "storage");
    kind->printer_columns = json_deep_copy(json_object_get(version, "additionalPrinterColumns"));
    return kind;
}

static void free_texts(const char *const *texts)
{
    for (size_t i = 0; texts && texts[i]; i++) free((char *)texts[i]);
    free((char **)texts);
}

void sim_crd_kind_free(struct sim_kind *kind)
{
    if (!kind) return;
    free((char *)kind->group);
    free((char *)kind->version);
    free((char *)kind->plural);
    free((char *)kind->singular);
    free((char *)kind->kind);
    free((char *)kind->list_kind);
    free_texts(kind->short_names);
    free_texts(kind->categories);
    json_decref((json_t *)kind->printer_columns);
    free(kind);
}

static int compare_kinds(const void *a, const void *b)
{
    return sim_compare_versions((*(struct sim_kind *const *)a)->version,
                                (*(struct sim_kind *const *)b)->version);
}

size_t sim_crd_kinds(const json_t *crd, struct sim_kind ***out, char **message)
{
    const json_t *spec = json_object_get(crd, "spec"), *versions = json_object_get(spec, "versions");
    json_t *causes = json_array(), *version;
    size_t count = 0, i;
    *out = NULL;
    *message = NULL;
    sim_crd_check(crd, causes);
    if (json_array_size(causes)) {
        const json_t *first = json_array_get(causes, 0);
        *message = xasprintf("%s: %s", sim_text_at(first, "field"), sim_text_at(first, "message"));
    } else {
        *out = xcalloc(json_array_size(versions), sizeof **out);
        json_array_foreach (versions, i, version)
            if (sim_true_at(version, "served")) (*out)[count++] = kind_of(spec, version);
        qsort(*out, count, sizeof **out, compare_kinds);
    }
    json_decref(causes);
    return count;
}

static void add_condition(json_t *conditions, const char *type, const char *reason, const char *message,
                          const char *time)
{
    json_array_append_new(conditions,
                          json_pack("{s:s,s:s,s:s,s:s,s:s}", "type", type, "status", "True",
                                    "lastTransitionTime", time, "reason", reason, "message", message));
}

static bool has_condition(const json_t *conditions, const char *type)
{
    size_t i;
    json_t *condition;
    json_array_foreach (conditions, i, condition)
        if (strcmp(sim_text_at(condition, "type"), type) == 0) return true;
    return false;
}

static json_t *stored_versions(const json_t *crd)
{
    json_t *stored = json_array(), *version;
    size_t i;
    json_array_foreach (sim_at(crd, "spec.versions"), i, version)
        if (sim_true_at(version, "storage"))
            json_array_append_new(stored, sim_string(sim_text_at(version, "name")));
    return stored;
}

void sim_crd_establish(json_t *crd, int64_t now_s)
{
    json_t *status = sim_submap(crd, "status"), *conditions = json_object_get(status, "conditions");
    char time[SIM_TIME_MAX];
    sim_time_format(now_s, time);
    if (!json_is_array(conditions)) {
        conditions = json_array();
        json_object_set_new(status, "conditions", conditions);
    }
    if (!has_condition(conditions, "NamesAccepted"))
        add_condition(conditions, "NamesAccepted", "NoConflicts", "no conflicts found", time);
    if (!has_condition(conditions, "Established"))
        add_condition(conditions, "Established", "InitialNamesAccepted",
                      "the initial names have been accepted", time);
    json_object_set_new(status, "acceptedNames", json_deep_copy(sim_at(crd, "spec.names")));
    if (json_array_size(json_object_get(status, "storedVersions")) == 0)
        json_object_set_new(status, "storedVersions", stored_versions(crd));
}
