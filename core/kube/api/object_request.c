/* Requests on the wire, and copies of them; see object_request.h. */
#include "kube/api/object_request.h"

#include <stdlib.h>

#include "base/mem.h"

static const struct {
    const char *method, *type; /* NULL: none, or that of the request */
} verbs[] = {
    [OBJECT_GET] = {"GET", NULL},
    [OBJECT_CREATE] = {"POST", "application/json"},
    [OBJECT_UPDATE] = {"PUT", "application/json"},
    [OBJECT_PATCH] = {"PATCH", NULL},
    [OBJECT_APPLY] = {"PATCH", "application/apply-patch+yaml"},
    [OBJECT_DELETE] = {"DELETE", "application/json"},
};

struct object_request *object_request_copy(const struct object_request *request)
{
    const struct object_place *place = &request->place;
    struct object_request *copy = NEW(struct object_request);
    struct resource *resource = NEW(struct resource);
    resource_copy(resource, place->resource);
    *copy = *request;
    copy->place = (struct object_place){.resource = resource,
                                        .namespace_ = xstrdup(place->namespace_),
                                        .name = xstrdup(place->name),
                                        .subresource = xstrdup(place->subresource)};
    if (request->body.p) copy->body.p = xstrndup(request->body.p, request->body.n);
    copy->patch_type = xstrdup(request->patch_type);
    copy->manager = xstrdup(request->manager);
    if (request->fence) copy->fence = fence_ref(request->fence);
    return copy;
}

void object_request_free(struct object_request *copy)
{
    if (!copy) return;
    struct object_place *place = &copy->place;
    const char *const texts[] = {place->namespace_, place->name,      place->subresource,
                                 copy->body.p,      copy->patch_type, copy->manager};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) free((char *)texts[i]);
    resource_clear((struct resource *)place->resource);
    free((struct resource *)place->resource);
    fence_unref(copy->fence);
    free(copy);
}

const char *object_request_method(const struct object_request *request)
{
    return verbs[request->verb].method;
}

const char *object_request_type(const struct object_request *request)
{
    if (!request->body.p) return NULL;
    return request->verb == OBJECT_PATCH ? request->patch_type : verbs[request->verb].type;
}

static void put_parameter(struct buf *out, const char **before, const char *key, const char *value)
{
    buf_printf(out, "%s%s=", *before, key);
    url_escape(str_of(value), out);
    *before = "&";
}

/* A server reads the options of a delete from the query or the body, never from both. */
void object_request_query(const struct object_request *request, struct buf *out)
{
    const char *before = "";
    if (request->verb == OBJECT_DELETE && request->body.p) return;
    if (nonempty(request->manager)) put_parameter(out, &before, "fieldManager", request->manager);
    if (request->force) put_parameter(out, &before, "force", "true");
    if (request->dry_run) put_parameter(out, &before, "dryRun", "All");
}

static bool put_path(const struct object_request *request, struct buf *out, struct err *err)
{
    const struct object_place *place = &request->place;
    struct str ns = str_of(place->namespace_), subresource = str_of(place->subresource);
    if (request->verb != OBJECT_CREATE || subresource.n)
        return resource_object_path(place->resource, ns, str_of(place->name), subresource, out, err);
    if (ns.n && !url_name_check(ns, err)) return err_wrap(err, "namespace");
    resource_path(place->resource, ns, out);
    return true;
}

bool object_request_path(const struct object_request *request, struct buf *out, struct err *err)
{
    struct buf query = {0};
    if (!put_path(request, out, err)) return false;
    object_request_query(request, &query);
    if (query.len) buf_printf(out, "?%s", buf_text(&query));
    buf_clear(&query);
    return true;
}
