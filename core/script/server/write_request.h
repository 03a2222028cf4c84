/* Writes as scripts name them, and the request that is read from the table that lua/k8s/write.lua made of a
 * script's arguments. Owner: the call; that table holds the texts. On the engine thread; functions with a
 * lua_State may raise. */
#pragma once
#include <lua.h>

#include "kube/api/object_request.h"
#include "script/server/declared.h"

/* A function of k8s. */
struct write_function {
    const char *name, *access_name; /* "k8s.apply", "patch" */
    enum write_verb access;
};

/* The verb of a function by its name at `idx`. */
enum object_verb write_verb_arg(lua_State *L, int idx);
const struct write_function *write_function_of(const struct object_request *request);
/* Fills all that the table has; verb and resource must be set. Raises for a name or namespace that is
 * missing, or that the kind does not have, and for a text above its limit. */
void write_request_read(lua_State *L, int table, struct object_request *request);
/* Returns whether its request and response must not be shown: those of a Secret, a TokenReview. */
bool write_request_is_secret(const struct object_request *request);
/* "pods/status" or "deployments.apps". */
void write_request_resource(const struct object_request *request, struct buf *out);
/* "shop/web" or "node-1". */
void write_request_object(const struct object_request *request, struct str name, struct buf *out);
