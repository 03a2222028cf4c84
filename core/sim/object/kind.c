/* Kinds and their names; see kind.h. */
#include "sim/object/kind.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/text/tree.h"

static const struct {
    const char *name;
    size_t at;
} flags[] = {
    {"namespaced", offsetof(struct sim_kind, namespaced)},
    {"status", offsetof(struct sim_kind, has_status)},
    {"first status", offsetof(struct sim_kind, keeps_first_status)},
    {"generation", offsetof(struct sim_kind, has_generation)},
    {"graceful end", offsetof(struct sim_kind, graceful)},
    {"name that is a label", offsetof(struct sim_kind, name_is_label)},
    {"name that is a segment", offsetof(struct sim_kind, name_is_segment)},
    {"delete with object", offsetof(struct sim_kind, returns_deleted)},
    {"version in updates", offsetof(struct sim_kind, needs_version)},
    {"created by update", offsetof(struct sim_kind, created_by_update)},
    {"no delete of collections", offsetof(struct sim_kind, no_delete_collection)},
};

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

struct sim_kind *sim_kind_new(const char *group, const char *version, const json_t *names,
                              const json_t *rules)
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
    kind->field_labels = texts_of(json_object_get(rules, "fields"));
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        *((bool *)kind + flags[i].at) = sim_has_text(json_object_get(rules, "has"), flags[i].name);
    return kind;
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
    json_decref((json_t *)kind->printer_columns);
    free(kind);
}

bool sim_is_namespace(const struct sim_kind *kind)
{
    return !*kind->group && strcmp(kind->kind, "Namespace") == 0;
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
