/* Pruning and defaults of custom objects; see structural.h. */
#include "sim/validate/structural.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sim/text/tree.h"

struct pruning {
    struct buf path;
    json_t *unknown;
};

static bool is_meta(const char *key)
{
    return strcmp(key, "apiVersion") == 0 || strcmp(key, "kind") == 0 || strcmp(key, "metadata") == 0;
}

/* The schema of a member; NULL: none names it. `true` as additionalProperties names all. */
static const json_t *member(const json_t *schema, const char *key, bool *named)
{
    const json_t *property = json_object_get(json_object_get(schema, "properties"), key);
    const json_t *others = json_object_get(schema, "additionalProperties");
    if (!property && others && !json_is_false(others)) property = others;
    *named = property != NULL;
    return json_is_object(property) ? property : NULL;
}

static void prune(struct pruning *p, const json_t *schema, json_t *value, bool keeps, bool resource);

static void prune_members(struct pruning *p, const json_t *schema, json_t *value, bool keeps, bool resource)
{
    size_t above = p->path.len;
    const char *key;
    json_t *item;
    void *next;
    json_object_foreach_safe(value, next, key, item)
    {
        bool named;
        const json_t *inner = member(schema, key, &named);
        if (resource && is_meta(key)) continue;
        buf_printf(&p->path, "%s%s", above ? "." : "", key);
        if (named)
            prune(p, inner, item, false, false);
        else if (!keeps) {
            if (above || !is_meta(key)) json_array_append_new(p->unknown, sim_string(buf_text(&p->path)));
            json_object_del(value, key);
        }
        p->path.len = above;
    }
}

/* `keeps`: inside of a value that keeps unknown fields. */
static void prune(struct pruning *p, const json_t *schema, json_t *value, bool keeps, bool resource)
{
    size_t above = p->path.len, i;
    json_t *item;
    keeps = keeps || sim_true_at(schema, "x-kubernetes-preserve-unknown-fields");
    resource = resource || sim_true_at(schema, "x-kubernetes-embedded-resource");
    if (keeps && !schema) return;
    prune_members(p, schema, value, keeps, resource);
    json_array_foreach (value, i, item) {
        buf_printf(&p->path, "[%zu]", i);
        prune(p, json_object_get(schema, "items"), item, keeps, false);
        p->path.len = above;
    }
}

/* Removes nulls that are neither nullable nor replaced by a default. */
static void drop_nulls(const json_t *schema, json_t *value)
{
    const char *key;
    json_t *item;
    void *next;
    size_t i;
    json_object_foreach_safe(value, next, key, item)
    {
        bool named;
        const json_t *inner = member(schema, key, &named);
        if (inner && json_is_null(item) && !sim_true_at(inner, "nullable") &&
            !json_object_get(inner, "default"))
            json_object_del(value, key);
        else if (inner)
            drop_nulls(inner, item);
    }
    json_array_foreach (value, i, item) drop_nulls(json_object_get(schema, "items"), item);
}

static int compare_strings(const void *a, const void *b)
{
    return strcmp(json_string_value(*(json_t *const *)a), json_string_value(*(json_t *const *)b));
}

static json_t *sorted(json_t *texts)
{
    size_t n = json_array_size(texts), i;
    if (n < 2) return texts;
    json_t **list = xcalloc(n, sizeof *list), *result = json_array(), *text;
    json_array_foreach (texts, i, text) list[i] = text;
    qsort(list, n, sizeof *list, compare_strings);
    for (i = 0; i < n; i++) json_array_append(result, list[i]);
    json_decref(texts);
    free(list);
    return result;
}

json_t *sim_structural_prune(const json_t *schema, json_t *object, bool keeps_nulls)
{
    struct pruning p = {{0}, json_array()};
    prune(&p, schema, object, false, true);
    if (!keeps_nulls) drop_nulls(schema, object);
    buf_clear(&p.path);
    return sorted(p.unknown);
}

void sim_structural_default(const json_t *schema, json_t *object)
{
    const char *key;
    json_t *item, *property, *value;
    size_t i;
    json_object_foreach (json_is_object(object) ? json_object_get(schema, "properties") : NULL, key,
                         property) {
        json_t *there = json_object_get(object, key);
        bool missing = !there || (json_is_null(there) && !sim_true_at(property, "nullable"));
        value = json_object_get(property, "default");
        if (value && missing) json_object_set_new(object, key, json_deep_copy(value));
    }
    json_object_foreach (object, key, item) {
        bool named;
        const json_t *inner = member(schema, key, &named);
        if (inner) sim_structural_default(inner, item);
    }
    json_array_foreach (object, i, item) sim_structural_default(json_object_get(schema, "items"), item);
}
