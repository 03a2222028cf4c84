/* What the kind of a live read or a write means, and whether the script declared that it uses it so: asked
 * first, so that a mistake is told before anything waits, and once more of what is sent, which alone counts.
 * Owner: the state. On the engine thread, inside a call into Lua: all may raise. */
#pragma once
#include <lua.h>

#include "base/str.h"
#include "kube/kinds/resource.h"
#include "script/vm/state.h"

struct kind_access {
    const char *verb;        /* "k8s.patch"; a literal, as the next three texts */
    const char *access_name; /* "patch" */
    const char *declarer;    /* "k8s.writes" */
    unsigned access;         /* for `allows` */
    bool any_declared;       /* false: nothing is, so that there is nothing to wait for */
    struct str kind;         /* as the script names it */
    struct str subresource;  /* empty for none */
    /* `meant` is NULL when nobody knows yet, or any more, what the kind means. */
    bool (*allows)(const struct script *script, const struct kind_access *question,
                   const struct resource *meant);
};

/* For a verb to return: its results are a resource, or nil, err. Waits when discovery has to tell. Raises
 * what is not declared before anything is sent. */
int kind_resolve(lua_State *L, const struct kind_access *question);
/* The resource that this found. Raises when the script did not declare that it uses it as `question` has it,
 * whose kind does not count: that is the one which the resource was found by. To be called with the very
 * values that are sent. */
const struct resource *resource_declared(lua_State *L, int idx, const struct kind_access *question);
/* The same for what is only looked at; raises "verb: expected a resource, not nil". */
const struct resource *resource_arg(lua_State *L, int idx, const char *verb);
