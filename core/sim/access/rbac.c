/* Roles and bindings; see rbac.h. They are parsed when they change, and not for each request. */
#include "sim/access/rbac.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/text/tree.h"

enum rbac_kind { ROLES, CLUSTER_ROLES, BINDINGS, CLUSTER_BINDINGS, RBAC_KINDS };

static const char *const plurals[RBAC_KINDS] = {"roles", "clusterroles", "rolebindings",
                                                "clusterrolebindings"};

struct sim_rbac {
    struct sim_api *api;
    pthread_mutex_t lock;          /* guards the rest */
    struct omap *maps[RBAC_KINDS]; /* what was parsed; a map never changes */
    json_t *objects[RBAC_KINDS];   /* by key */
};

struct sim_rbac *sim_rbac_new(struct sim_api *api)
{
    struct sim_rbac *rbac = NEW(struct sim_rbac);
    rbac->api = api;
    pthread_mutex_init(&rbac->lock, NULL);
    return rbac;
}

void sim_rbac_free(struct sim_rbac *rbac)
{
    if (!rbac) return;
    sim_store_lock(rbac->api->store);
    for (int i = 0; i < RBAC_KINDS; i++) omap_unref(rbac->maps[i]);
    sim_store_unlock(rbac->api->store);
    for (int i = 0; i < RBAC_KINDS; i++) json_decref(rbac->objects[i]);
    pthread_mutex_destroy(&rbac->lock);
    free(rbac);
}

/* --- what is stored */

static json_t *parse(struct omap *map)
{
    json_t *objects = json_object();
    struct omap_cursor cursor;
    omap_seek(&cursor, map, "");
    for (struct sim_object *object; (object = omap_next(&cursor));)
        json_object_set_new(objects, object->key, sim_object_json(object, "", ""));
    return objects;
}

/* Takes the present objects of a kind. */
static void renew(struct sim_rbac *rbac, enum rbac_kind kind)
{
    struct sim_store *store = rbac->api->store;
    sim_store_lock(store);
    struct sim_served *served = sim_store_find(store, "rbac.authorization.k8s.io", "v1", plurals[kind]);
    struct omap *now = served ? served->resource->map : NULL;
    bool is_same = rbac->objects[kind] && now == rbac->maps[kind];
    if (!is_same) {
        struct omap *before = rbac->maps[kind];
        rbac->maps[kind] = now ? omap_ref(now) : NULL;
        omap_unref(before);
    }
    sim_store_unlock(store);
    if (is_same) return;
    json_decref(rbac->objects[kind]);
    rbac->objects[kind] = parse(rbac->maps[kind]);
}

/* --- rules */

static bool has(const json_t *list, const char *value)
{
    return sim_has_text(list, "*") || sim_has_text(list, value);
}

/* "pods", "pods/log", "*" with all its subresources, or one subresource of all: "*" and "/scale". */
static bool has_resource(const json_t *list, const struct sim_attributes *a)
{
    if (sim_has_text(list, "*")) return true;
    if (!*a->subresource) return sim_has_text(list, a->resource);
    char *one = xasprintf("%s/%s", a->resource, a->subresource), *all = xasprintf("*/%s", a->subresource);
    bool found = sim_has_text(list, one) || sim_has_text(list, all);
    free(one);
    free(all);
    return found;
}

/* A "*" at the end stands for any rest. */
static bool has_path(const json_t *list, const char *path)
{
    size_t i;
    json_t *entry;
    json_array_foreach (list, i, entry) {
        const char *text = json_string_value(entry);
        size_t n = text ? strlen(text) : 0;
        if (n && (strcmp(text, path) == 0 || (text[n - 1] == '*' && strncmp(text, path, n - 1) == 0)))
            return true;
    }
    return false;
}

static bool rule_allows(const json_t *rule, const struct sim_attributes *a)
{
    if (!has(json_object_get(rule, "verbs"), a->verb)) return false;
    if (!*a->resource) return has_path(json_object_get(rule, "nonResourceURLs"), a->path);
    const json_t *names = json_object_get(rule, "resourceNames");
    return has(json_object_get(rule, "apiGroups"), a->group) &&
           has_resource(json_object_get(rule, "resources"), a) &&
           (json_array_size(names) == 0 || (*a->name && sim_has_text(names, a->name)));
}

/* --- bindings */

static bool is_account(const json_t *subject, const json_t *binding, const char *user)
{
    const char *namespace_ = sim_text_at(subject, "namespace");
    if (!*namespace_) namespace_ = sim_text_at(binding, "metadata.namespace");
    char *name = xasprintf("system:serviceaccount:%s:%s", namespace_, sim_text_at(subject, "name"));
    bool same = strcmp(name, user) == 0;
    free(name);
    return same;
}

static bool is_subject(const json_t *subject, const json_t *binding, const json_t *user)
{
    const char *kind = sim_text_at(subject, "kind"), *name = sim_text_at(subject, "name");
    const char *username = sim_text_at(user, "username");
    if (strcmp(kind, "User") == 0) return strcmp(name, username) == 0;
    if (strcmp(kind, "Group") == 0) return sim_has_text(json_object_get(user, "groups"), name);
    return strcmp(kind, "ServiceAccount") == 0 && is_account(subject, binding, username);
}

/* Returns the rules of the role that a binding gives to the user; NULL: none. */
static const json_t *rules_of(struct sim_rbac *rbac, const json_t *binding, const json_t *user)
{
    const json_t *subject, *subjects = json_object_get(binding, "subjects");
    const char *name = sim_text_at(binding, "roleRef.name");
    size_t i;
    bool is_bound = false;
    json_array_foreach (subjects, i, subject) is_bound = is_bound || is_subject(subject, binding, user);
    if (!is_bound) return NULL;
    if (strcmp(sim_text_at(binding, "roleRef.kind"), "ClusterRole") == 0)
        return json_object_get(json_object_get(rbac->objects[CLUSTER_ROLES], name), "rules");
    char *key = xasprintf("%s/%s", sim_text_at(binding, "metadata.namespace"), name);
    const json_t *rules = json_object_get(json_object_get(rbac->objects[ROLES], key), "rules");
    free(key);
    return rules;
}

/* Calls `visit` with each rule that the user has in the namespace, or everywhere with "", until it is true.
 */
typedef bool rule_visit(void *ctx, const json_t *rule, const json_t *binding);

static bool each_rule(struct sim_rbac *rbac, const json_t *user, const char *namespace_, rule_visit *visit,
                      void *ctx)
{
    for (enum rbac_kind kind = CLUSTER_BINDINGS; kind >= BINDINGS; kind--) {
        const char *key;
        json_t *binding, *rule;
        size_t i;
        json_object_foreach (rbac->objects[kind], key, binding) {
            const char *place = sim_text_at(binding, "metadata.namespace");
            if (kind == BINDINGS && (!*namespace_ || strcmp(place, namespace_) != 0)) continue;
            const json_t *rules = rules_of(rbac, binding, user);
            json_array_foreach (rules, i, rule)
                if (visit(ctx, rule, binding)) return true;
        }
    }
    return false;
}

struct decision {
    const struct sim_attributes *attributes;
    const json_t *user;
    char **why;
};

static bool decide(void *ctx, const json_t *rule, const json_t *binding)
{
    struct decision *decision = ctx;
    if (!rule_allows(rule, decision->attributes)) return false;
    const char *namespace_ = sim_text_at(binding, "metadata.namespace");
    *decision->why =
        xasprintf("RBAC: allowed by %s \"%s%s%s\" of %s \"%s\" to User \"%s\"",
                  *namespace_ ? "RoleBinding" : "ClusterRoleBinding", sim_text_at(binding, "metadata.name"),
                  *namespace_ ? "/" : "", namespace_, sim_text_at(binding, "roleRef.kind"),
                  sim_text_at(binding, "roleRef.name"), sim_text_at(decision->user, "username"));
    return true;
}

bool sim_rbac_allows(struct sim_rbac *rbac, const json_t *user, const struct sim_attributes *attributes,
                     char **why)
{
    struct decision decision = {attributes, user, why};
    *why = NULL;
    if (sim_has_text(json_object_get(user, "groups"), "system:masters")) return true;
    pthread_mutex_lock(&rbac->lock);
    for (int i = 0; i < RBAC_KINDS; i++) renew(rbac, i);
    bool allowed =
        each_rule(rbac, user, *attributes->resource ? attributes->namespace_ : "", decide, &decision);
    pthread_mutex_unlock(&rbac->lock);
    return allowed;
}

static bool collect(void *ctx, const json_t *rule, const json_t *binding)
{
    json_array_append(ctx, (json_t *)rule);
    return false;
}

json_t *sim_rbac_rules(struct sim_rbac *rbac, const json_t *user, const char *namespace_)
{
    json_t *rules = json_array();
    if (sim_has_text(json_object_get(user, "groups"), "system:masters"))
        json_array_append_new(
            rules, json_pack("{s:[s], s:[s], s:[s]}", "verbs", "*", "apiGroups", "*", "resources", "*"));
    pthread_mutex_lock(&rbac->lock);
    for (int i = 0; i < RBAC_KINDS; i++) renew(rbac, i);
    each_rule(rbac, user, namespace_, collect, rules);
    json_t *copy = json_deep_copy(rules); /* the parsed objects are not shared between threads */
    json_decref(rules);
    pthread_mutex_unlock(&rbac->lock);
    return copy;
}
