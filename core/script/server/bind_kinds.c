/* raw.kinds: the kinds that the server serves, as discovery lists them. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/kinds/kinds.h"
#include "script/server/bind_kind.h"
#include "script/view/view.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"
#include "script/vm/task.h"

enum { ARG_WHERE = 4, ARG_CLUSTER };

enum scope_filter { SCOPES_ALL, SCOPES_NAMESPACED, SCOPES_CLUSTER };

/* Scopes of the kinds that are asked for. */
struct kind_filter {
    char *group;       /* NULL: all groups */
    const char *below; /* of "*.example.com", part of `group`; NULL: that group alone */
    unsigned verbs;    /* that a kind must have */
    enum scope_filter scopes;
};

/* Wait for discovery, or for a turn. */
struct kinds_listing {
    struct task_wait wait;
    struct kinds_waiter waiter;
    const struct cluster_parts *cluster; /* held */
    struct kind_filter filter;
    struct err err;
};

/* --- the filter */

static unsigned verb_bit(struct str verb)
{
    for (unsigned i = 0; i < KIND_VERBS; i++)
        if (str_is(verb, kind_verbs[i])) return 1U << i;
    return 0;
}

/* The function of the script, "k8s.kinds". */
static const char *where_arg(lua_State *L)
{
    return own_text(L, ARG_WHERE);
}

static unsigned verb_arg(lua_State *L, int idx)
{
    lua_pushfstring(L, "%s: verb", where_arg(L));
    struct str verb = arg_str_opt(L, idx, own_text(L, -1));
    unsigned bit = verb.p ? verb_bit(verb) : 0;
    if (!verb.p || bit) return bit;
    struct buf *known = script_scratch(script_of(L));
    for (size_t i = 0; i < KIND_VERBS; i++)
        buf_printf(known, "%s%s", i == 0 ? "" : i + 1 < KIND_VERBS ? ", " : " or ", kind_verbs[i]);
    script_raise(L, "%s: verb must be %s, not \"%.40s\"", where_arg(L), buf_text(known), verb.p);
}

static struct str group_arg(lua_State *L, int idx)
{
    lua_pushfstring(L, "%s: group", where_arg(L));
    struct str group = arg_str_opt(L, idx, own_text(L, -1));
    const char *star = group.p ? memchr(group.p, '*', group.n) : NULL;
    bool is_good = !star || group.n == 1 || (star == group.p && group.n > 2 && group.p[1] == '.');
    if (!is_good || (star && memchr(star + 1, '*', group.n - (size_t)(star + 1 - group.p))))
        script_raise(L,
                     "%s: group \"%.100s\": the only patterns are \"*\", all groups, and \"*.GROUP\", a "
                     "group and those below it",
                     where_arg(L), group.p);
    return group.n == 1 && star ? (struct str){0} : group;
}

static enum scope_filter scopes_arg(lua_State *L, int idx)
{
    if (lua_isnoneornil(L, idx)) return SCOPES_ALL;
    return lua_toboolean(L, idx) ? SCOPES_NAMESPACED : SCOPES_CLUSTER;
}

static bool is_asked_for(const struct kind_filter *filter, const struct resource *resource, unsigned verbs)
{
    if ((verbs & filter->verbs) != filter->verbs) return false;
    if (filter->scopes == SCOPES_NAMESPACED && !resource->namespaced) return false;
    if (filter->scopes == SCOPES_CLUSTER && resource->namespaced) return false;
    if (filter->below) return group_is_within(str_of(resource->group), filter->below);
    return !filter->group || strcmp(filter->group, resource->group) == 0;
}

/* --- the result */

static void set_text(lua_State *L, const char *name, const char *text)
{
    lua_pushstring(L, text);
    lua_setfield(L, -2, name);
}

static void set_verbs(lua_State *L, unsigned verbs)
{
    int count = 0;
    lua_createtable(L, KIND_VERBS, 0);
    copy_mark_array(L);
    for (size_t i = 0; i < KIND_VERBS; i++) {
        if (!(verbs & 1U << i)) continue;
        lua_pushstring(L, kind_verbs[i]);
        lua_rawseti(L, -2, ++count);
    }
    lua_setfield(L, -2, "verbs");
}

static void push_kind_table(lua_State *L, const struct resource *resource, unsigned verbs)
{
    struct buf *name = script_scratch(script_of(L));
    resource_name(resource, name);
    lua_createtable(L, 0, 7);
    set_text(L, "name", buf_text(name));
    set_text(L, "group", resource->group);
    set_text(L, "version", resource->version);
    set_text(L, "kind", resource->kind);
    set_text(L, "plural", resource->plural);
    lua_pushboolean(L, resource->namespaced);
    lua_setfield(L, -2, "namespaced");
    set_verbs(L, verbs);
}

/* Entries of a group stand together, those of its preferred version first. */
static bool is_preferred(const struct catalogue *catalogue, size_t at)
{
    const struct resource *one = catalogue_at(catalogue, at), *before;
    while (at-- > 0 && (before = catalogue_at(catalogue, at)) && strcmp(before->group, one->group) == 0)
        if (strcmp(before->plural, one->plural) == 0) return false;
    return true;
}

static void push_kinds(lua_State *L, const struct catalogue *catalogue, const struct kind_filter *filter)
{
    const struct resource *resource;
    int count = 0;
    lua_newtable(L);
    copy_mark_array(L);
    for (size_t i = 0; (resource = catalogue_at(catalogue, i)); i++) {
        unsigned verbs = catalogue_verbs_at(catalogue, i);
        budget_poll(L, script_of(L));
        if (!is_asked_for(filter, resource, verbs) || !is_preferred(catalogue, i)) continue;
        push_kind_table(L, resource, verbs);
        lua_rawseti(L, -2, ++count);
    }
}

/* The kinds; with an err if some groups did not respond, as client-go's discovery has both. */
static int push_listing(lua_State *L, struct task_wait *base)
{
    const struct kinds_listing *listing = container_of(base, struct kinds_listing, wait);
    const struct catalogue *catalogue = kinds_catalogue(listing->cluster->kinds);
    if (listing->err.code) return push_err(L, &listing->err);
    push_kinds(L, catalogue, &listing->filter);
    const char *failures = catalogue_failures(catalogue);
    if (!*failures) return 1;
    struct buf *text = script_scratch(script_of(L));
    buf_printf(text, "unable to retrieve the complete list of server APIs: %s", failures);
    push_error(L, 0, "GroupDiscoveryFailed", buf_slice(text));
    lua_remove(L, -2);
    return 2;
}

/* --- the wait */

static void on_catalogue(struct kinds_waiter *waiter, const struct err *err)
{
    struct kinds_listing *listing = container_of(waiter, struct kinds_listing, waiter);
    if (!err && catalogue_is_partial(kinds_catalogue(listing->cluster->kinds))) {
        kinds_wait(listing->cluster->kinds, waiter);
        return;
    }
    if (err) listing->err = *err;
    task_wake(&listing->wait);
}

static void drop_listing(struct task_wait *base)
{
    struct kinds_listing *listing = container_of(base, struct kinds_listing, wait);
    kinds_cancel(&listing->waiter);
    cluster_let_go(listing->cluster);
    free(listing->filter.group);
    free(listing);
}

/* check(group, verb, namespaced, where): raises unless `list` takes them. */
static int l_kinds_check(lua_State *L)
{
    group_arg(L, 1);
    verb_arg(L, 2);
    return 0;
}

/* Half of the period in which a script looks, if it says so: each look is at kinds that came after the one
 * before. -1: as old as others take them. */
static int64_t age_arg(lua_State *L, int idx)
{
    enum { AGE_MIN_MS = 500 };
    if (lua_isnoneornil(L, idx)) return -1;
    int64_t age_ms = arg_duration_ms(L, idx, "k8s.each_kind: every") / 2;
    return age_ms > AGE_MIN_MS ? age_ms : AGE_MIN_MS;
}

static bool invalidate(struct kinds *kinds, int64_t age_ms)
{
    return age_ms < 0 ? kinds_invalidate(kinds) : kinds_invalidate_older(kinds, age_ms);
}

/* list(group, verb, namespaced, where, cluster, period): an array of kinds, and an err if it is not complete;
 * or nil, err. All but `where` may be nil. Waits, for discovery if the last one is older than some seconds,
 * or than half of the period. */
static int l_kinds_list(lua_State *L)
{
    static const struct task_wait_ops ops = {push_listing, drop_listing, .finishes = false};
    const struct cluster_parts *cluster = cluster_arg(L, ARG_CLUSTER, "k8s.kinds");
    struct kinds *kinds = cluster->kinds;
    int64_t age_ms = age_arg(L, ARG_CLUSTER + 1);
    struct str group = group_arg(L, 1);
    unsigned verbs = verb_arg(L, 2);
    enum scope_filter scopes = scopes_arg(L, 3);
    task_check(L, "k8s.kinds");
    if (!cluster->live) script_raise(L, "k8s.kinds: no server connection");
    struct kinds_listing *listing = NEW(struct kinds_listing);
    listing->cluster = cluster_hold(cluster);
    listing->waiter.ready = on_catalogue;
    listing->filter = (struct kind_filter){.verbs = verbs, .scopes = scopes};
    if (group.p) listing->filter.group = xstrndup(group.p, group.n);
    if (group.n && *group.p == '*') listing->filter.below = listing->filter.group + 2;
    err_clear(&listing->err);
    if (!kinds_known(kinds) || invalidate(kinds, age_ms))
        kinds_wait(kinds, &listing->waiter);
    else
        task_wake(&listing->wait);
    return task_yield(L, &listing->wait, &ops);
}

/* --- informers of a running script */

/* Wait for the first discovery. */
struct first_kinds {
    struct task_wait wait;
    struct kinds_waiter waiter;
    const struct cluster_parts *cluster; /* held */
    char *kind;
};

/* A name without a group that nobody knows is a mistake; with one the kind may come later. Pushes whether its
 * objects may have namespaces. */
static int push_checked(lua_State *L, struct str kind, const struct cluster_parts *cluster)
{
    const struct script *script = script_of(L);
    const struct kinds *kinds = cluster->kinds;
    const struct kind_access access = {
        .verb = "k8s.informer",
        .cluster = cluster,
        .kind = kind,
        .subresource = STR(""),
        .access = READ_WATCH,
        .access_name = "watch",
        .declarer = &declares_reads,
        .declared = &script->own.reads->declared,
    };
    struct err err;
    bool known = kind_push_declared(L, &access, &err);
    bool may_come = !kinds_known(kinds) || resource_name_has_group(kind);
    if (!known && !may_come && !catalogue_is_partial(kinds_catalogue(kinds)))
        script_raise(L, "k8s.informer: %s", err.text);
    struct resource resource;
    bool namespaced = true;
    if (known && kinds_resolve(kinds, kind, &resource, &err)) {
        namespaced = resource.namespaced;
        resource_clear(&resource);
    }
    lua_pushboolean(L, namespaced);
    return 1;
}

static void on_first_kinds(struct kinds_waiter *waiter, const struct err *err)
{
    task_wake(&container_of(waiter, struct first_kinds, waiter)->wait);
}

/* Where the server cannot be asked, what the script declared in these very words is let through: its informer
 * waits for the server. */
static int push_first_kinds(lua_State *L, struct task_wait *base)
{
    const struct first_kinds *first = container_of(base, struct first_kinds, wait);
    return push_checked(L, str_of(first->kind), first->cluster);
}

static void drop_first_kinds(struct task_wait *base)
{
    struct first_kinds *first = container_of(base, struct first_kinds, wait);
    kinds_cancel(&first->waiter);
    cluster_let_go(first->cluster);
    free(first->kind);
    free(first);
}

/* check_informer(kind, cluster): raises unless the running script may make an informer of the kind; gives
 * whether its objects may have namespaces. Waits until kinds are known. */
static int l_kinds_check_informer(lua_State *L)
{
    static const struct task_wait_ops ops = {push_first_kinds, drop_first_kinds, .finishes = false};
    struct str kind = arg_str(L, 1, "k8s.informer: kind");
    const struct cluster_parts *cluster = cluster_arg(L, 2, "k8s.informer");
    struct kinds *kinds = cluster->kinds;
    task_check(L, "k8s.informer");
    if (kinds_known(kinds)) return push_checked(L, kind, cluster);
    struct first_kinds *first = NEW(struct first_kinds);
    first->kind = xstrndup(kind.p, kind.n);
    first->cluster = cluster_hold(cluster);
    first->waiter.ready = on_first_kinds;
    kinds_wait(kinds, &first->waiter);
    return task_yield(L, &first->wait, &ops);
}

static void bind_kinds(lua_State *L)
{
    lua_newtable(L);
    lua_pushcfunction(L, l_kinds_check_informer);
    lua_setfield(L, -2, "check_informer");
    lua_pushcfunction(L, l_kinds_check);
    lua_setfield(L, -2, "check");
    lua_pushcfunction(L, l_kinds_list);
    lua_setfield(L, -2, "list");
    lua_setfield(L, -2, "kinds");
}

const struct feature feature_kinds = {.parts = {"kinds"}, .bind = bind_kinds};
