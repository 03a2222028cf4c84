/* The first step of live reads and of writes: what their kind means, and whether the script declared that it
 * uses it so. Owner: the state. On the engine thread, inside a call into Lua: both may raise. */
#pragma once
#include <lua.h>

#include "base/str.h"
#include "kube/resource.h"
#include "script/state.h"

struct kind_question {
    const char *verb;        /* "k8s.patch"; a literal, as the next three texts */
    const char *access_name; /* "patch" */
    const char *declarer;    /* "k8s.writes" */
    unsigned access;         /* for `allows` */
    bool any_declared;       /* false: nothing is, so that there is nothing to wait for */
    struct str kind;         /* as the script names it */
    struct str subresource;  /* empty for none */
    /* `meant` is NULL when nobody knows yet, or any more, what the kind means. */
    bool (*allows)(const struct script *script, const struct kind_question *question,
                   const struct resource *meant);
};

/* For a verb to return: its results are a resource, or nil, err. Waits when discovery has to tell. Raises
 * what is not declared before anything is sent. */
int kind_resolve(lua_State *L, const struct kind_question *question);
/* The resource that this found; raises "verb: expected a resource, not nil". */
const struct resource *resource_arg(lua_State *L, int idx, const char *verb);
/* Registers the class of resources. */
void bind_kind(lua_State *L);
