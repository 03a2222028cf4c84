/* Resolution of the kind of a live read or a write, and the check that the script declared that use: once
 * before anything waits, so that a mistake is reported early, and again for the request that is sent, which
 * alone counts. Owner: the state. On the engine thread, inside a call into Lua: all may raise. */
#pragma once
#include <lua.h>

#include "base/str.h"
#include "kube/kinds/resource.h"
#include "script/inventory/inventory.h"
#include "script/server/declared.h"
#include "script/vm/state.h"

struct kind_access {
    const char *verb;        /* "k8s.patch"; a literal, as the next text */
    const char *access_name; /* "patch" */
    unsigned access;         /* of declared.h */
    const struct cluster_parts *cluster;
    const struct declarer *declarer;
    const struct declarations *declared;
    struct str kind;        /* as the script names it */
    struct str subresource; /* empty for none */
};

/* For a verb to return: its results are a resource, or nil, err. Waits when discovery has to tell. Raises
 * what is not declared before anything is sent. */
int kind_resolve(lua_State *L, const struct kind_access *access);
/* Pushes the resource that the kind means by what is known now. Returns false, with an empty resource, if
 * nobody knows it; sets err if kinds are known at all. Raises what is not declared. */
bool kind_push_declared(lua_State *L, const struct kind_access *access, struct err *err);
/* Returns the resource that kind_resolve found. Raises if the script did not declare this use of it. The kind
 * is the resource's; `access->kind` is ignored. Call with the values that are sent. */
const struct resource *resource_declared(lua_State *L, int idx, const struct kind_access *access);
/* The same without the check of declarations; raises "verb: expected a resource, not nil". */
const struct resource *resource_arg(lua_State *L, int idx, const char *verb);
/* Returns the cluster for which the resource was resolved. Raises if it is gone. */
const struct cluster_parts *resource_cluster(lua_State *L, int idx);
/* The text at 1 is a declaration; it becomes part of the plan. */
void kind_declare(lua_State *L, const struct declarer *declarer, struct declarations *declared,
                  enum inventory_class class);
