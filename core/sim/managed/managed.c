/* Owners of fields in writes; see managed.h. */
#include "sim/managed/managed.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/managed/merge.h"
#include "sim/object/defaults.h"
#include "sim/object/metadata.h"
#include "sim/text/tree.h"

void sim_managed_filter(const struct sim_kind *kind, const char *subresource, struct sim_field_set *set)
{
    struct sim_field_set others = {0};
    const char *part = subresource ? subresource : "";
    if (!set->count) return;
    if (kind->has_status && (!*part || strcmp(part, "finalize") == 0))
        sim_field_set_add_names(&others, "status", NULL);
    if (strcmp(part, "status") == 0) sim_field_set_add_names(&others, "spec", NULL);
    if (strcmp(part, "status") == 0 && kind->custom) sim_field_set_add_names(&others, "metadata", NULL);
    const struct sim_alone *alone;
    for (size_t at = 0; (alone = sim_next_alone(kind, part, &at));)
        sim_field_set_add_names(&others, alone->name, alone->below);
    sim_field_set_subtract_trees(set, &others);
    sim_field_set_clear(&others);
}

void sim_managed_filter_all(const struct sim_kind *kind, const char *subresource,
                            struct sim_comparison *changes)
{
    sim_managed_filter(kind, subresource, &changes->added);
    sim_managed_filter(kind, subresource, &changes->removed);
    sim_managed_filter(kind, subresource, &changes->modified);
}

void sim_managed_set(json_t *object, const struct sim_managers *managers)
{
    json_t *metadata = sim_submap(object, "metadata");
    if (managers->count)
        json_object_set_new(metadata, "managedFields", sim_managers_json(managers));
    else
        json_object_del(metadata, "managedFields");
}

/* `[]` and `[{}]` reset. */
static bool resets(const json_t *entries)
{
    size_t n = json_array_size(entries);
    return json_is_array(entries) &&
           (n == 0 || (n == 1 && json_object_size(json_array_get(entries, 0)) == 0));
}

void sim_managed_tidy(json_t *object)
{
    json_t *metadata = json_object_get(object, "metadata");
    if (resets(json_object_get(metadata, "managedFields"))) json_object_del(metadata, "managedFields");
}

static void read_managers(const char *subresource, const json_t *live, const json_t *given,
                          struct sim_managers *managers)
{
    const json_t *own = subresource ? NULL : sim_at(given, "metadata.managedFields");
    if (resets(own)) return;
    if (own && sim_managers_read(managers, own) && managers->count) return;
    sim_managers_read(managers, sim_at(live, "metadata.managedFields"));
}

/* Content of the body, as the kind's types have it: nobody owns what the server adds to that. */
static json_t *said(const struct sim_kind *kind, const json_t *given)
{
    json_t *object = sim_typed(kind, given);
    sim_apply_scheme_defaults(kind, object);
    return object;
}

void sim_managed_write(const struct sim_kind *kind, const struct sim_author *author, const json_t *live,
                       const json_t *given, json_t *object)
{
    struct sim_managers managers = {0};
    struct sim_comparison changes = {0};
    struct sim_shape shape = sim_shape_of_kind(kind);
    json_t *nothing = json_object(), *after = said(kind, given); /* fields borrow their names */
    char *wrong = kind->custom ? sim_shape_problems(&shape, given) : NULL;
    read_managers(author->subresource, live, given, &managers);
    if (wrong && !strstr(wrong, "duplicate entries")) /* a server has no owners then */
        sim_managers_clear(&managers);
    else if (managers.count || !live) {
        sim_compare(&shape, live ? live : nothing, after, false, &changes);
        sim_managed_filter_all(kind, author->subresource, &changes);
        sim_managers_give_up(&managers, NULL, &changes);
        sim_managers_take(&managers, author, &changes);
        sim_managers_cap(&managers);
    }
    sim_managed_set(object, &managers);
    sim_comparison_clear(&changes);
    sim_managers_clear(&managers);
    free(wrong);
    json_decref(nothing);
    json_decref(after);
}

static json_t *without_times(const json_t *object)
{
    json_t *copy = json_copy((json_t *)object), *entry;
    json_t *metadata = json_copy(json_object_get(object, "metadata"));
    json_t *entries = json_deep_copy(json_object_get(metadata, "managedFields"));
    size_t i;
    json_array_foreach (entries, i, entry) json_object_del(entry, "time");
    json_object_set_new(metadata, "managedFields", entries);
    json_object_set_new(copy, "metadata", metadata);
    return copy;
}

void sim_managed_keep_times(const json_t *live, json_t *object)
{
    const json_t *entries = sim_at(live, "metadata.managedFields");
    json_t *metadata = json_object_get(object, "metadata");
    if (!entries || json_array_size(entries) != json_array_size(json_object_get(metadata, "managedFields")))
        return;
    json_t *before = without_times(live), *after = without_times(object);
    if (json_equal(before, after)) json_object_set_new(metadata, "managedFields", json_deep_copy(entries));
    json_decref(before);
    json_decref(after);
}
