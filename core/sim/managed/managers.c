/* Managers of fields; see managers.h. */
#include "sim/managed/managers.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sim/text/timestamp.h"
#include "sim/text/tree.h"

enum { UPDATERS_MAX = 10 };

/* Takes the entry. */
static void open_entry(struct sim_manager *manager, json_t *entry)
{
    *manager = (struct sim_manager){.name = sim_text_at(entry, "manager"),
                                    .operation = sim_text_at(entry, "operation"),
                                    .version = sim_text_at(entry, "apiVersion"),
                                    .subresource = sim_text_at(entry, "subresource"),
                                    .entry = entry};
}

static void close_entry(struct sim_manager *manager)
{
    json_decref(manager->entry);
    sim_field_set_clear(&manager->set);
}

void sim_managers_clear(struct sim_managers *managers)
{
    for (size_t i = 0; i < managers->count; i++) close_entry(&managers->list[i]);
    free(managers->list);
    *managers = (struct sim_managers){0};
}

/* Of entries that apply, the version does not tell who they are. */
static bool same(const struct sim_manager *a, const struct sim_manager *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->operation, b->operation) == 0 &&
           strcmp(a->subresource, b->subresource) == 0 &&
           (strcmp(a->operation, "Apply") == 0 || strcmp(a->version, b->version) == 0);
}

static struct sim_manager *find(const struct sim_managers *managers, const struct sim_manager *like)
{
    for (size_t i = 0; i < managers->count; i++)
        if (same(&managers->list[i], like)) return &managers->list[i];
    return NULL;
}

static bool is_entry(const json_t *entry)
{
    const char *operation = sim_text_at(entry, "operation");
    return (strcmp(operation, "Apply") == 0 || strcmp(operation, "Update") == 0) &&
           *sim_text_at(entry, "apiVersion") && strcmp(sim_text_at(entry, "fieldsType"), "FieldsV1") == 0;
}

bool sim_managers_read(struct sim_managers *managers, const json_t *entries)
{
    const json_t *given;
    size_t i;
    bool good = true;
    json_array_foreach (entries, i, given) {
        struct sim_manager manager;
        const json_t *fields = json_object_get(given, "fieldsV1");
        good = good && is_entry(given);
        if (!good) break;
        open_entry(&manager, json_copy((json_t *)given));
        json_object_del(manager.entry, "fieldsV1");
        good = !fields || json_is_null(fields) || sim_field_set_read(&manager.set, fields);
        struct sim_manager *before = find(managers, &manager);
        if (before) close_entry(before);
        *(before ? before : array_add(managers->list, managers->count)) = manager;
    }
    if (!good) sim_managers_clear(managers);
    return good;
}

static const char *time_of(const struct sim_manager *manager)
{
    return sim_text_at(manager->entry, "time");
}

/* Applies before updates, the oldest first. */
static int compare_entries(const void *a, const void *b)
{
    const struct sim_manager *x = *(const struct sim_manager *const *)a,
                             *y = *(const struct sim_manager *const *)b;
    int order = strcmp(x->operation, y->operation);
    if (!order) order = strcmp(time_of(x), time_of(y));
    if (!order) order = strcmp(x->name, y->name);
    if (!order) order = strcmp(x->version, y->version);
    return order ? order : strcmp(x->subresource, y->subresource);
}

int sim_manager_compare(const struct sim_manager *a, const struct sim_manager *b)
{
    int order = strcmp(a->name, b->name);
    if (!order) order = strcmp(a->operation, b->operation);
    if (!order && strcmp(a->operation, "Update") == 0) order = strcmp(a->version, b->version);
    if (!order) order = !*a->subresource - !*b->subresource;
    return order ? order : strcmp(a->subresource, b->subresource);
}

static json_t *entry_json(const struct sim_manager *manager)
{
    json_t *entry = json_object(), *time = json_object_get(manager->entry, "time");
    if (*manager->name) json_object_set_new(entry, "manager", sim_string(manager->name));
    json_object_set_new(entry, "operation", sim_string(manager->operation));
    json_object_set_new(entry, "apiVersion", sim_string(manager->version));
    if (json_is_string(time)) json_object_set(entry, "time", time);
    json_object_set_new(entry, "fieldsType", json_string("FieldsV1"));
    json_object_set_new(entry, "fieldsV1", sim_field_set_json(&manager->set));
    if (*manager->subresource) json_object_set_new(entry, "subresource", sim_string(manager->subresource));
    return entry;
}

json_t *sim_managers_json(const struct sim_managers *managers)
{
    const struct sim_manager **order = xcalloc(managers->count + 1, sizeof *order);
    json_t *entries = json_array();
    for (size_t i = 0; i < managers->count; i++) order[i] = &managers->list[i];
    qsort(order, managers->count, sizeof *order, compare_entries);
    for (size_t i = 0; i < managers->count; i++) json_array_append_new(entries, entry_json(order[i]));
    free(order);
    return entries;
}

/* Takes the entry. */
static struct sim_manager *need(struct sim_managers *managers, json_t *entry)
{
    struct sim_manager wanted;
    open_entry(&wanted, entry);
    struct sim_manager *there = find(managers, &wanted);
    if (!there) {
        there = array_add(managers->list, managers->count);
        *there = wanted;
        json_incref(entry);
    }
    json_decref(entry);
    return there;
}

static json_t *entry_of(const struct sim_author *author)
{
    const char *name = author->manager && *author->manager ? author->manager : "unknown";
    return json_pack("{so ss so so}", "manager", sim_string(name), "operation", author->operation,
                     "apiVersion", sim_string(author->version), "subresource",
                     sim_string(author->subresource));
}

struct sim_manager *sim_managers_find(const struct sim_managers *managers, const struct sim_author *author)
{
    struct sim_manager wanted;
    open_entry(&wanted, entry_of(author));
    struct sim_manager *there = find(managers, &wanted);
    json_decref(wanted.entry);
    return there;
}

struct sim_manager *sim_managers_need(struct sim_managers *managers, const struct sim_author *author)
{
    return need(managers, entry_of(author));
}

void sim_manager_set_time(struct sim_manager *manager, int64_t now_s)
{
    json_object_set_new(manager->entry, "time", sim_time(now_s));
}

static void drop(struct sim_managers *managers, size_t at)
{
    close_entry(&managers->list[at]);
    array_remove(managers->list, managers->count, at);
}

void sim_managers_give_up(struct sim_managers *managers, const struct sim_author *author,
                          const struct sim_comparison *changes)
{
    for (size_t i = managers->count; i-- > 0;) {
        struct sim_manager *other = &managers->list[i];
        if (author && other == sim_managers_find(managers, author)) continue;
        sim_field_set_subtract(&other->set, &changes->added);
        sim_field_set_subtract(&other->set, &changes->modified);
        sim_field_set_subtract(&other->set, &changes->removed);
        if (sim_field_set_empty(&other->set)) drop(managers, i);
    }
}

void sim_managers_drop_empty(struct sim_managers *managers, const struct sim_author *author)
{
    struct sim_manager *own = sim_managers_find(managers, author);
    if (own && sim_field_set_empty(&own->set)) drop(managers, (size_t)(own - managers->list));
}

/* Fields that never have an owner. */
static void strip(struct sim_field_set *set)
{
    static const char *const names[] = {"name",       "namespace",     "creationTimestamp",
                                        "selfLink",   "uid",           "clusterName",
                                        "generation", "managedFields", "resourceVersion"};
    struct sim_field_set never = {0};
    sim_field_set_add_names(&never, "apiVersion", NULL);
    sim_field_set_add_names(&never, "kind", NULL);
    sim_field_set_add_names(&never, "metadata", NULL);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) sim_field_set_add_names(&never, "metadata", names[i]);
    sim_field_set_subtract(set, &never);
    sim_field_set_clear(&never);
}

void sim_manager_strip(struct sim_manager *manager)
{
    strip(&manager->set);
}

void sim_managers_take(struct sim_managers *managers, const struct sim_author *author,
                       const struct sim_comparison *changes)
{
    struct sim_field_set taken = sim_field_set_copy(&changes->added);
    sim_field_set_unite(&taken, &changes->modified);
    strip(&taken);
    if (!sim_field_set_empty(&taken)) {
        struct sim_manager *own = sim_managers_need(managers, author);
        sim_field_set_unite(&own->set, &taken);
        sim_manager_set_time(own, author->now_s);
    }
    sim_field_set_clear(&taken);
}

/* --- no more than ten updaters */

static int compare_ages(const void *a, const void *b)
{
    const struct sim_manager *x = *(const struct sim_manager *const *)a,
                             *y = *(const struct sim_manager *const *)b;
    int order = strcmp(time_of(x), time_of(y));
    return order ? order : sim_manager_compare(x, y);
}

/* Returns the two oldest updaters of the same version; false if there are none, or few updaters. */
static bool two_to_merge(const struct sim_managers *managers, struct sim_manager *pair[2])
{
    struct sim_manager **updaters = xcalloc(managers->count + 1, sizeof *updaters);
    size_t n = 0;
    bool found = false;
    for (size_t i = 0; i < managers->count; i++)
        if (strcmp(managers->list[i].operation, "Update") == 0) updaters[n++] = &managers->list[i];
    qsort(updaters, n, sizeof *updaters, compare_ages);
    for (size_t second = 1; second < n && n > UPDATERS_MAX && !found; second++)
        for (size_t first = 0; first < second && !found; first++) {
            found = strcmp(updaters[first]->version, updaters[second]->version) == 0;
            pair[0] = updaters[first];
            pair[1] = updaters[second];
        }
    free(updaters);
    return found;
}

void sim_managers_cap(struct sim_managers *managers)
{
    struct sim_manager *pair[2];
    while (two_to_merge(managers, pair)) {
        json_t *entry = json_pack("{ss ss so}", "manager", "ancient-changes", "operation", "Update",
                                  "apiVersion", sim_string(pair[0]->version));
        json_t *time = json_object_get(pair[1]->entry, "time");
        struct sim_field_set both = {0};
        if (time) json_object_set(entry, "time", time);
        for (size_t i = 0; i < 2; i++) sim_field_set_unite(&both, &pair[i]->set);
        size_t high = (size_t)((pair[0] > pair[1] ? pair[0] : pair[1]) - managers->list);
        size_t low = (size_t)((pair[0] > pair[1] ? pair[1] : pair[0]) - managers->list);
        drop(managers, high);
        drop(managers, low);
        struct sim_manager *bucket = need(managers, json_incref(entry));
        json_object_update(bucket->entry, entry);
        sim_field_set_unite(&bucket->set, &both);
        sim_field_set_clear(&both);
        json_decref(entry);
    }
}
