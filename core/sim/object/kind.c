/* Kinds and their names; see kind.h. */
#include "sim/object/kind.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/text/tree.h"

/* Returns an array of new strings that ends with NULL; NULL for an empty list. */
static const char *const *texts_of(const json_t *list)
{
    size_t n = json_array_size(list);
    if (n == 0) return NULL;
    const char **texts = xcalloc(n + 1, sizeof *texts);
    for (size_t i = 0; i < n; i++) texts[i] = xstrdup(sim_text_at(json_array_get(list, i), ""));
    return texts;
}

static void free_texts(const char *const *texts)
{
    for (size_t i = 0; texts && texts[i]; i++) free((char *)texts[i]);
    free((char **)texts);
}

struct sim_kind *sim_kind_new(const char *group, const char *version, const json_t *names)
{
    struct sim_kind *kind = NEW(struct sim_kind);
    const char *name = sim_text_at(names, "kind"), *list_kind = sim_text_at(names, "listKind");
    const char *singular = sim_text_at(names, "singular");
    kind->group = xstrdup(group);
    kind->version = xstrdup(version);
    kind->plural = xstrdup(sim_text_at(names, "plural"));
    kind->singular = *singular ? xstrdup(singular) : sim_lower(name);
    kind->kind = xstrdup(name);
    kind->list_kind = *list_kind ? xstrdup(list_kind) : xasprintf("%sList", name);
    kind->short_names = texts_of(json_object_get(names, "shortNames"));
    kind->categories = texts_of(json_object_get(names, "categories"));
    return kind;
}

static const char *const *nonempty_list(const char *const *list)
{
    return *list ? list : NULL;
}

static bool has_verb(const struct schema_kind *schema, const char *verb)
{
    for (const char *const *own = schema->verbs; *own; own++)
        if (strcmp(*own, verb) == 0) return true;
    return false;
}

struct sim_kind *sim_kind_of_schema(const struct schema_kind *schema)
{
    struct sim_kind *kind = NEW(struct sim_kind);
    *kind = (struct sim_kind){
        .schema = schema,
        .group = schema->group,
        .version = schema->version,
        .plural = schema->plural,
        .singular = schema->singular,
        .kind = schema->kind,
        .list_kind = xasprintf("%sList", schema->kind),
        .short_names = nonempty_list(schema->short_names),
        .categories = nonempty_list(schema->categories),
        .field_labels = nonempty_list(schema->field_labels),
        .names = schema->names,
        .namespaced = schema->namespaced,
        .has_status = schema_subresource(schema, "status"),
        .has_scale = schema_subresource(schema, "scale"),
        .has_generation = schema->generation,
        .keeps_first_status = schema->takes_status,
        .graceful = schema->graceful,
        .returns_deleted = schema->returns_deleted,
        .needs_version = schema->needs_version,
        .created_by_update = schema->created_by_update,
        .no_delete_collection = !has_verb(schema, "deletecollection"),
        .unstored = !has_verb(schema, "update"),
    };
    return kind;
}

bool sim_has_subresource(const struct sim_kind *kind, const char *name)
{
    static const char *const left[] = {"ephemeralcontainers", "proxy", "resize"};
    if (strcmp(name, "status") == 0) return kind->has_status;
    if (strcmp(name, "scale") == 0) return kind->has_scale;
    for (size_t i = 0; i < ARRAY_LEN(left); i++)
        if (strcmp(name, left[i]) == 0) return false;
    return schema_subresource(kind->schema, name);
}

void sim_kind_free(struct sim_kind *kind)
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
    free_texts(kind->field_labels);
    free((char *)kind->deprecation);
    json_decref((json_t *)kind->printer_columns);
    json_decref((json_t *)kind->structural);
    json_decref((json_t *)kind->scale);
    free(kind);
}

bool sim_next_subresource(const struct sim_kind *kind, size_t *at, struct schema_subresource *sub)
{
    static const char *const verbs[] = {"get", "patch", "update", NULL};
    static const struct schema_subresource of_custom[] = {{"status", NULL, NULL, verbs},
                                                          {"scale", "autoscaling/v1", "Scale", verbs}};
    const struct schema_subresource *list = kind->schema ? kind->schema->subresources : of_custom;
    size_t count = kind->schema ? kind->schema->subresource_count : ARRAY_LEN(of_custom);
    while (*at < count) {
        *sub = list[(*at)++];
        if (!sim_has_subresource(kind, sub->name)) continue;
        if (!sub->kind) sub->kind = kind->kind;
        return true;
    }
    return false;
}

const char *sim_scale_path(const struct sim_kind *kind)
{
    const char *path = json_string_value(json_object_get(kind->scale, "specReplicasPath"));
    return path ? path + strspn(path, ".") : "spec.replicas";
}

bool sim_kind_is(const struct sim_kind *kind, const char *name)
{
    return !kind->custom && strcmp(kind->kind, name) == 0;
}

bool sim_is_namespace(const struct sim_kind *kind)
{
    return !*kind->group && strcmp(kind->kind, "Namespace") == 0;
}

bool sim_takes_labels(const struct sim_kind *kind)
{
    return kind->schema && (strcmp(kind->schema->type, "batch/v1.Job") == 0 ||
                            strcmp(kind->schema->type, "core/v1.ReplicationController") == 0);
}

char *sim_api_version(const struct sim_kind *kind)
{
    return *kind->group ? xasprintf("%s/%s", kind->group, kind->version) : xstrdup(kind->version);
}

char *sim_qualified_resource(const struct sim_kind *kind)
{
    return *kind->group ? xasprintf("%s.%s", kind->plural, kind->group) : xstrdup(kind->plural);
}

char *sim_qualified_kind(const struct sim_kind *kind)
{
    return *kind->group ? xasprintf("%s.%s", kind->kind, kind->group) : xstrdup(kind->kind);
}
