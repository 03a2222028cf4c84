/* Resolution of the kind of a live read or a write; see bind_kind.h. */
#include "script/server/bind_kind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/kinds/kinds.h"
#include "script/inventory/bind_inventory.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"
#include "script/vm/task.h"

struct resource_box {
    struct resource resource;            /* all NULL until resolved */
    const struct cluster_parts *cluster; /* may be gone by now, unless it is the home cluster */
    char *cluster_name;                  /* NULL: that one */
    char *kind;                          /* as the script wrote it */
};

static const struct resource_box *box_arg(lua_State *L, int idx, const char *verb)
{
    const struct resource_box *box = class_test(L, idx, CLASS_RESOURCE);
    if (!box) script_raise(L, "%s: expected a resource, not %s", verb, arg_type_name(L, idx));
    return box;
}

const struct resource *resource_arg(lua_State *L, int idx, const char *verb)
{
    return &box_arg(L, idx, verb)->resource;
}

/* Boxes may be garbage for long: they do not hold the cluster. */
const struct cluster_parts *resource_cluster(lua_State *L, int idx)
{
    const struct resource_box *box = box_arg(L, idx, "cluster");
    if (!box->cluster_name) return box->cluster;
    const struct cluster_parts *now = cluster_named(script_of(L)->host, str_of(box->cluster_name));
    if (now != box->cluster) script_raise(L, "the cluster \"%s\" is gone", box->cluster_name);
    return now;
}

static int l_resource_gc(lua_State *L)
{
    struct resource_box *box = lua_touserdata(L, 1);
    resource_clear(&box->resource);
    free(box->cluster_name);
    box->cluster_name = NULL;
    free(box->kind);
    box->kind = NULL;
    return 0;
}

/* Named as the script named it; what came from an object, "apps/v1/Deployment", as one would declare it. */
static _Noreturn void raise_undeclared(lua_State *L, const struct kind_access *q,
                                       const struct resource *meant)
{
    struct str sub = q->subresource, kind = q->kind;
    if (meant && memchr(kind.p, '/', kind.n)) {
        struct buf *name = script_scratch(script_of(L));
        resource_name(meant, name);
        kind = buf_slice(name);
    }
    script_raise(L, "%s: \"%.*s%s%.*s:%s\" is not declared with %s", q->verb, STR_ARG(kind), sub.n ? "/" : "",
                 (int)sub.n, sub.n ? sub.p : "", q->access_name, q->declarer->name);
}

/* `meant` is NULL while the kind is not resolved, or no longer is. */
static bool allows(const struct kind_access *q, const struct resource *meant)
{
    return declared_allow(q->declared, q->declarer, q->access, q->kind, q->subresource, meant,
                          q->cluster->kinds);
}

const struct resource *resource_declared(lua_State *L, int idx, const struct kind_access *access)
{
    const struct resource_box *box = box_arg(L, idx, access->verb);
    struct kind_access q = *access;
    q.kind = str_of(box->kind);
    q.cluster = resource_cluster(L, idx);
    if (!allows(&q, &box->resource)) raise_undeclared(L, &q, &box->resource);
    return &box->resource;
}

bool kind_push_declared(lua_State *L, const struct kind_access *q, struct err *err)
{
    const struct kinds *kinds = q->cluster->kinds;
    struct resource_box *box = lua_newuserdata(L, sizeof *box);
    memset(box, 0, sizeof *box);
    class_set(L, script_of(L), CLASS_RESOURCE);
    box->cluster = q->cluster;
    if (q->cluster->name) box->cluster_name = xstrdup(q->cluster->name);
    box->kind = xstrndup(q->kind.p, q->kind.n);
    bool known = kinds_known(kinds) && kinds_resolve(kinds, q->kind, &box->resource, err);
    const struct resource *meant = known ? &box->resource : NULL;
    if (!allows(q, meant)) raise_undeclared(L, q, meant);
    return known;
}

/* Pushes the resource, or nil, err. A missing declaration is reported before an unknown kind: it is wrong on
 * every server. */
static int push_resource(lua_State *L, const struct kind_access *q)
{
    struct err err;
    return kind_push_declared(L, q, &err) ? 1 : push_err(L, &err);
}

/* Wait for the next response of discovery. */
struct kind_wait {
    struct task_wait wait;
    struct kinds_waiter waiter;
    struct kind_access access; /* its cluster is held */
    char *kind, *subresource;  /* its strings */
    struct err err;
};

static void on_kinds(struct kinds_waiter *waiter, const struct err *err)
{
    struct kind_wait *wait = container_of(waiter, struct kind_wait, waiter);
    struct resource resource;
    struct err unknown;
    if (!err && catalogue_is_partial(
                    kinds_catalogue(wait->access.cluster->kinds))) { /* its group may respond later */
        if (!kinds_resolve(wait->access.cluster->kinds, wait->access.kind, &resource, &unknown)) {
            kinds_wait(wait->access.cluster->kinds, waiter);
            return;
        }
        resource_clear(&resource);
    }
    if (err) wait->err = *err;
    task_wake(&wait->wait);
}

static int push_kind(lua_State *L, struct task_wait *base)
{
    struct kind_wait *wait = container_of(base, struct kind_wait, wait);
    bool known = kinds_known(wait->access.cluster->kinds);
    return known ? push_resource(L, &wait->access) : push_err(L, &wait->err);
}

static void drop_kind(struct task_wait *base)
{
    struct kind_wait *wait = container_of(base, struct kind_wait, wait);
    kinds_cancel(&wait->waiter);
    cluster_let_go(wait->access.cluster);
    free(wait->kind);
    free(wait->subresource);
    free(wait);
}

enum name_state {
    NAME_KNOWN,
    NAME_REFUSED, /* a refresh would not help: not declared, or discovery is fresh */
    NAME_OPEN,    /* discovery decides */
};

static enum name_state name_state(const struct kind_access *q)
{
    struct kinds *kinds = q->cluster->kinds;
    struct resource resource;
    struct err err;
    if (!kinds_known(kinds)) return NAME_OPEN;
    if (kinds_resolve(kinds, q->kind, &resource, &err)) {
        resource_clear(&resource);
        return NAME_KNOWN;
    }
    bool declared = allows(q, NULL);
    return err.code != ERR_NOT_FOUND || !declared || !kinds_invalidate(kinds) ? NAME_REFUSED : NAME_OPEN;
}

int kind_resolve(lua_State *L, const struct kind_access *q)
{
    static const struct task_wait_ops ops = {push_kind, drop_kind, .finishes = true};
    task_check(L, q->verb);
    if (!q->cluster->live) script_raise(L, "%s: no server connection", q->verb);
    if (q->declared->count == 0) raise_undeclared(L, q, NULL);
    enum name_state state = name_state(q);
    if (state == NAME_KNOWN) return push_resource(L, q);
    struct kind_wait *wait = NEW(struct kind_wait);
    wait->access = *q;
    cluster_hold(q->cluster);
    wait->kind = xstrndup(q->kind.p, q->kind.n);
    wait->access.kind.p = wait->kind;
    wait->subresource = xstrndup(q->subresource.n ? q->subresource.p : "", q->subresource.n);
    wait->access.subresource.p = wait->subresource;
    wait->waiter.ready = on_kinds;
    err_clear(&wait->err);
    /* The call waits even if the result is known: a script that repeats it for a missing kind lets others
     * run. */
    if (state == NAME_OPEN)
        kinds_wait(q->cluster->kinds, &wait->waiter);
    else
        task_wake(&wait->wait);
    return task_yield(L, &wait->wait, &ops);
}

void kind_declare(lua_State *L, const struct declarer *declarer, struct declarations *declared,
                  enum inventory_class class)
{
    char what[32];
    struct err err;
    arg_loading(L, declarer->name);
    snprintf(what, sizeof what, "%s: each entry", declarer->name);
    struct str text = arg_str(L, 1, what);
    if (!declare(declared, declarer, text, &err)) script_raise(L, "%s: %s", declarer->name, err.text);
    inventory_note(L, class, text, (struct str){0});
}

static void bind_kind(lua_State *L)
{
    static const luaL_Reg meta[] = {{"__gc", l_resource_gc}, {NULL, NULL}};
    class_define(L, CLASS_RESOURCE, "resource", meta, NULL);
    lua_pop(L, 1);
}

const struct feature feature_kind = {.bind = bind_kind, .classes = CLASS_BIT(CLASS_RESOURCE)};
