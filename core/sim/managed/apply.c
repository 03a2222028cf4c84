/* Server-side apply; see apply.h. */
#include "sim/managed/apply.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/managed/merge.h"
#include "sim/object/status.h"
#include "sim/text/tree.h"

/* --- the configuration */

static char *kind_text(const char *version, const char *kind)
{
    if (strchr(version, '/') != strrchr(version, '/')) return xstrdup("/, Kind="); /* is no version */
    return xasprintf("%s%s, Kind=%s", strchr(version, '/') ? "" : "/", version, kind);
}

static bool check_kind(const struct sim_kind *kind, const json_t *given, struct sim_refusal *refusal)
{
    char *version = sim_api_version(kind);
    const char *own = sim_text_at(given, "apiVersion");
    bool good = strcmp(own, version) == 0 && strcmp(sim_text_at(given, "kind"), kind->kind) == 0;
    char *text = good ? NULL : kind_text(own, sim_text_at(given, "kind"));
    if (!good) refusal->status = sim_status_bad_request("invalid object type: %s", text);
    free(text);
    free(version);
    return good;
}

static bool check_shape(const struct sim_shape *shape, const json_t *given, struct sim_refusal *refusal)
{
    char *problems = sim_shape_problems(shape, given);
    if (!problems) return true;
    char *kind = kind_text(sim_text_at(given, "apiVersion"), sim_text_at(given, "kind"));
    json_t *message = sim_textf("failed to create typed patch object (%s/%s; %s): %s",
                                sim_text_at(given, "metadata.namespace"), sim_text_at(given, "metadata.name"),
                                kind, problems);
    refusal->status = sim_status(500, NULL, json_string_value(message), NULL, NULL);
    json_decref(message);
    free(kind);
    free(problems);
    return false;
}

static bool check(const struct sim_kind *kind, const struct sim_shape *shape, const struct sim_apply *apply,
                  struct sim_refusal *refusal)
{
    if (!check_kind(kind, apply->given, refusal)) return false;
    if (json_is_array(sim_at(apply->given, "metadata.managedFields")))
        return sim_refuse(refusal, sim_status_bad_request("metadata.managedFields must be nil"));
    return check_shape(shape, apply->given, refusal);
}

/* --- conflicts */

struct conflicts {
    const struct sim_manager *manager; /* at present */
    struct buf text;                   /* of several */
    json_t *causes;
};

/* `"kubectl" using v1`, `"me" with subresource "status"`. */
static json_t *shown(const struct sim_manager *manager)
{
    struct buf b = {0};
    buf_json_string(&b, str_of(manager->name));
    if (*manager->subresource) {
        buf_puts(&b, " with subresource ");
        buf_json_string(&b, str_of(manager->subresource));
    }
    if (strcmp(manager->operation, "Update") == 0) buf_printf(&b, " using %s", manager->version);
    json_t *text = sim_string(buf_text(&b));
    buf_clear(&b);
    return text;
}

static void add_conflict(void *ctx, const struct sim_path *path)
{
    struct conflicts *c = ctx;
    struct buf field = {0};
    json_t *manager = shown(c->manager);
    sim_path_show(&field, path);
    buf_printf(&c->text, "\n- %s", buf_text(&field));
    json_array_append_new(c->causes, json_pack("{ss so so}", "reason", "FieldManagerConflict", "message",
                                               sim_textf("conflict with %s", json_string_value(manager)),
                                               "field", sim_string(buf_text(&field))));
    json_decref(manager);
    buf_clear(&field);
}

static int compare_managers(const void *a, const void *b)
{
    return sim_manager_compare(*(const struct sim_manager *const *)a, *(const struct sim_manager *const *)b);
}

static json_t *conflict_status(const struct conflicts *c, const char *text)
{
    const json_t *first = json_array_get(c->causes, 0);
    size_t n = json_array_size(c->causes);
    json_t *message = n == 1 ? sim_textf("Apply failed with 1 conflict: %s: %s",
                                         sim_text_at(first, "message"), sim_text_at(first, "field"))
                             : sim_textf("Apply failed with %zu conflicts: %s", n, text);
    json_t *status = sim_status(409, "Conflict", json_string_value(message), NULL, NULL),
           *code = json_integer(409);
    json_decref(message);
    json_object_del(status, "code");
    json_object_set_new(status, "details", json_pack("{sO}", "causes", c->causes));
    json_object_set_new(status, "code", code);
    return status;
}

static const char last_applied[] = "kubectl.kubernetes.io/last-applied-configuration";

/* Returns the text that an apply by clients keeps in the object; NULL unless kubectl applies one that has it.
 */
static const char *last_applied_of(const json_t *object, const struct sim_author *author)
{
    const char *text =
        json_string_value(json_object_get(sim_at(object, "metadata.annotations"), last_applied));
    return text && *text && strcmp(author->manager, "kubectl") == 0 ? text : NULL;
}

/* Takes out what kubectl itself applied as a client and what is still so: it moves over without a conflict.
 */
static void allow_last_applied(const struct sim_shape *shape, const json_t *live,
                               const struct sim_author *author, struct sim_field_set *wanted)
{
    const char *text = last_applied_of(live, author);
    json_t *last = text ? json_loads(text, 0, NULL) : NULL;
    struct sim_field_set allowed = {0};
    struct sim_comparison other = {0};
    if (json_is_object(last) && strcmp(sim_text_at(last, "apiVersion"), author->version) == 0) {
        sim_fields_of(shape, last, &allowed);
        sim_compare(shape, last, live, false, &other);
        sim_field_set_subtract(&allowed, &other.added);
        sim_field_set_subtract(&allowed, &other.removed);
        sim_field_set_subtract(&allowed, &other.modified);
        sim_field_set_subtract(wanted, &allowed);
    }
    sim_field_set_clear(&allowed);
    sim_comparison_clear(&other);
    json_decref(last);
}

/* A later apply as a client compares with what kubectl applied. */
static void update_last_applied(json_t *object, const struct sim_apply *apply)
{
    if (!last_applied_of(object, &apply->author)) return;
    json_t *given = json_deep_copy(apply->given), *metadata = sim_submap(given, "metadata");
    json_object_del(metadata, "managedFields");
    json_object_del(json_object_get(metadata, "annotations"), last_applied);
    if (!json_object_size(json_object_get(metadata, "annotations"))) json_object_del(metadata, "annotations");
    char *text = json_dumps(given, JSON_COMPACT | JSON_SORT_KEYS);
    json_object_set_new(sim_at(object, "metadata.annotations"), last_applied, sim_textf("%s\n", text));
    free(text);
    json_decref(given);
}

/* Returns a Status if other managers own what changed; NULL if none does. */
static json_t *conflicts_of(const struct sim_shape *shape, const json_t *live,
                            const struct sim_managers *managers, const struct sim_author *author,
                            const struct sim_comparison *changes)
{
    const struct sim_manager **order = xcalloc(managers->count + 1, sizeof *order),
                             *own = sim_managers_find(managers, author);
    struct conflicts c = {.causes = json_array()};
    struct sim_field_set wanted = sim_field_set_copy(&changes->added);
    sim_field_set_unite(&wanted, &changes->modified);
    allow_last_applied(shape, live, author, &wanted);
    for (size_t i = 0; i < managers->count; i++) order[i] = &managers->list[i];
    qsort(order, managers->count, sizeof *order, compare_managers);
    for (size_t i = 0; i < managers->count; i++) {
        if (order[i] == own) continue;
        struct sim_field_set theirs = sim_field_set_copy(&order[i]->set);
        sim_field_set_intersect(&theirs, &wanted);
        c.manager = order[i];
        if (!sim_field_set_empty(&theirs)) {
            json_t *manager = shown(c.manager);
            buf_printf(&c.text, "%sconflicts with %s:", c.text.len ? "\n" : "", json_string_value(manager));
            json_decref(manager);
        }
        sim_field_set_each(&theirs, add_conflict, &c);
        sim_field_set_clear(&theirs);
    }
    json_t *status = json_array_size(c.causes) ? conflict_status(&c, buf_text(&c.text)) : NULL;
    sim_field_set_clear(&wanted);
    json_decref(c.causes);
    buf_clear(&c.text);
    free(order);
    return status;
}

/* --- what is applied no more */

static struct sim_field_set named_fields(const struct sim_shape *shape, const json_t *value)
{
    struct sim_field_set set = {0};
    sim_fields_of(shape, value, &set);
    sim_name_fields(shape, &set);
    return set;
}

/* Takes out what the manager applied the last time, and neither it nor anybody else owns now. */
static json_t *prune(const struct sim_shape *shape, json_t *merged, const struct sim_managers *managers,
                     const struct sim_field_set *last)
{
    struct sim_field_set all = {0}, mine = sim_field_set_copy(last);
    for (size_t i = 0; i < managers->count; i++) sim_field_set_unite(&all, &managers->list[i].set);
    sim_name_fields(shape, &all);
    sim_name_fields(shape, &mine);
    json_t *pruned = sim_without(shape, merged, &mine);

    struct sim_field_set gone = named_fields(shape, merged), kept = named_fields(shape, pruned);
    sim_field_set_subtract(&gone, &kept);
    sim_field_set_subtract(&gone, &all);
    json_decref(pruned);
    sim_field_set_clear(&kept);
    pruned = sim_without(shape, merged, &gone);
    sim_field_set_clear(&gone);

    gone = named_fields(shape, merged);
    kept = named_fields(shape, pruned);
    sim_field_set_subtract(&gone, &kept);
    sim_field_set_intersect(&gone, &mine);
    json_decref(pruned);
    pruned = sim_without(shape, merged, &gone);
    sim_field_set_clear(&gone);
    sim_field_set_clear(&kept);
    sim_field_set_clear(&all);
    sim_field_set_clear(&mine);
    json_decref(merged);
    return pruned;
}

/* An object that has no managers yet has those of before the first apply. */
static void begin(const struct sim_kind *kind, const struct sim_shape *shape, const json_t *live,
                  const struct sim_author *author, struct sim_managers *managers)
{
    struct sim_author before = *author;
    struct sim_comparison all = {0};
    json_t *nothing = json_object();
    before.manager = "before-first-apply";
    before.operation = "Update";
    sim_compare(shape, nothing, live, false, &all);
    sim_managed_filter_all(kind, author->subresource, &all);
    sim_managers_take(managers, &before, &all);
    sim_comparison_clear(&all);
    json_decref(nothing);
}

/* Merges, and sets what the manager owns now. */
static json_t *merge(const struct sim_kind *kind, const struct sim_shape *shape, const json_t *live,
                     const struct sim_apply *apply, struct sim_managers *managers)
{
    json_t *object = sim_merge(shape, live, apply->given);
    struct sim_manager *own = sim_managers_need(managers, &apply->author);
    struct sim_field_set last = own->set;
    own->set = (struct sim_field_set){0};
    sim_fields_of(shape, apply->given, &own->set);
    sim_managed_filter(kind, apply->author.subresource, &own->set);
    json_object_set_new(own->entry, "apiVersion", sim_string(apply->author.version));
    own->version = sim_text_at(own->entry, "apiVersion");
    if (!sim_field_set_empty(&last)) object = prune(shape, object, managers, &last);
    sim_field_set_clear(&last);
    return object;
}

/* Hands the fields over, after the comparison of the result with what is stored; `other`: it is not the same.
 */
static bool hand_over(const struct sim_kind *kind, const struct sim_shape *shape, const json_t *live,
                      const struct sim_apply *apply, struct sim_managers *managers,
                      struct sim_comparison *changes, bool other, struct sim_refusal *refusal)
{
    sim_managed_filter_all(kind, apply->author.subresource, changes);
    json_t *conflict = apply->force ? NULL : conflicts_of(shape, live, managers, &apply->author, changes);
    if (conflict) return sim_refuse(refusal, conflict);
    sim_managers_give_up(managers, &apply->author, changes);
    struct sim_manager *own = sim_managers_find(managers, &apply->author);
    sim_manager_strip(own);
    if (other) sim_manager_set_time(own, apply->author.now_s);
    sim_managers_drop_empty(managers, &apply->author);
    return true;
}

/* A list of one empty entry takes away those that are stored. */
static void finish(json_t *object, const struct sim_managers *managers)
{
    json_t *list = managers->count ? sim_managers_json(managers) : json_pack("[{}]");
    json_object_set_new(sim_submap(object, "metadata"), "managedFields", list);
}

json_t *sim_applied(const struct sim_kind *kind, const json_t *live, const struct sim_apply *apply,
                    struct sim_refusal *refusal)
{
    struct sim_shape shape = sim_shape_of_kind(kind);
    struct sim_managers managers = {0};
    struct sim_comparison changes = {0};
    json_t *nothing = json_object();
    const json_t *before = live ? live : nothing;
    json_t *object = NULL;
    refusal->status = NULL;
    if (check(kind, &shape, apply, refusal)) {
        sim_managers_read(&managers, sim_at(live, "metadata.managedFields"));
        if (live && !managers.count) begin(kind, &shape, live, &apply->author, &managers);
        object = merge(kind, &shape, before, apply, &managers);
        sim_compare(&shape, before, object, true, &changes);
        if (hand_over(kind, &shape, before, apply, &managers, &changes, !sim_value_equal(before, object),
                      refusal)) {
            finish(object, &managers);
            update_last_applied(object, apply);
        } else {
            json_decref(object);
            object = NULL;
        }
    }
    sim_comparison_clear(&changes);
    sim_managers_clear(&managers);
    json_decref(nothing);
    return object;
}
