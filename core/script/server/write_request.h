/* Request of a write, as read from the table that lua/k8s/write.lua made of the script's arguments. Owner:
 * the call. Texts are held by that table. On the engine thread; functions with a lua_State may raise. */
#pragma once
#include <lua.h>

#include "base/buf.h"
#include "kube/kinds/resource.h"
#include "script/server/declared.h"

/* A function of k8s. */
struct write_function {
    const char *name, *access_name; /* "k8s.apply", "patch" */
    enum write_verb access;
    const char *method, *content_type; /* NULL: the script chooses the type */
};

struct write_request {
    const struct write_function *function;
    const struct resource *resource;
    const char *ns, *name, *subresource, *manager, *content_type;
    bool force, dry_run;
    bool to_collection; /* a new object, whose name is not part of the path */
    int64_t timeout_ms;
};

/* By its name at `idx`. */
const struct write_function *write_function_arg(lua_State *L, int idx);
/* Fills all but function and resource, which must be set. Raises for a name or namespace that is missing, or
 * that the kind does not have, and for a text above its limit. */
void write_request_read(lua_State *L, int table, struct write_request *request);
/* "fieldManager=kubelua&dryRun=All"; of a delete all is in the body. */
void write_request_query(const struct write_request *request, struct buf *out);
/* Returns whether its request and response must not be shown: those of a Secret, a TokenReview. */
bool write_request_is_secret(const struct write_request *request);
/* "pods/status" or "deployments.apps". */
void write_request_resource(const struct write_request *request, struct buf *out);
