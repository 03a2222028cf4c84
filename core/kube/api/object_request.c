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
    [OBJECT_TABLE] = {"GET", NULL},
    [OBJECT_TEXT] = {"GET", NULL},
};

struct object_request *object_request_copy(const struct object_request *request)
{
    const struct object_place *place = &request->place;
    struct object_request *copy = NEW(struct object_request);
    struct resource *resource = NEW(struct resource);
    if (place->resource) resource_copy(resource, place->resource);
    *copy = *request;
    copy->place = (struct object_place){.resource = resource,
                                        .namespace_ = xstrdup(place->namespace_),
                                        .name = xstrdup(place->name),
                                        .subresource = xstrdup(place->subresource)};
    if (request->body.p) copy->body.p = xstrndup(request->body.p, request->body.n);
    copy->path = xstrdup(request->path);
    copy->patch_type = xstrdup(request->patch_type);
    copy->manager = xstrdup(request->manager);
    copy->selector = xstrdup(request->selector);
    copy->continue_ = xstrdup(request->continue_);
    if (request->fence) copy->fence = fence_ref(request->fence);
    return copy;
}

void object_request_free(struct object_request *copy)
{
    if (!copy) return;
    struct object_place *place = &copy->place;
    const char *const texts[] = {place->namespace_, place->name,    place->subresource,
                                 copy->body.p,      copy->path,     copy->patch_type,
                                 copy->manager,     copy->selector, copy->continue_};
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

const char *object_request_accept(const struct object_request *request)
{
    return request->verb == OBJECT_TABLE ? "application/json;as=Table;v=v1;g=meta.k8s.io" : NULL;
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

/* Rows are told apart by the metadata of their objects. One object is a list too: who may list a kind need
 * not be allowed to get it. */
static void put_table_query(const struct object_request *request, const char **before, struct buf *out)
{
    struct buf name = {0};
    buf_printf(&name, "metadata.name=%s", nonempty(request->place.name) ? request->place.name : "");
    put_parameter(out, before, "includeObject", "Metadata");
    put_parameter(out, before, "limit", "500");
    if (nonempty(request->place.name)) put_parameter(out, before, "fieldSelector", buf_text(&name));
    if (nonempty(request->selector)) put_parameter(out, before, "labelSelector", request->selector);
    if (nonempty(request->continue_)) put_parameter(out, before, "continue", request->continue_);
    buf_clear(&name);
}

/* A server reads the options of a delete from the query or the body, never from both. */
void object_request_query(const struct object_request *request, struct buf *out)
{
    const char *before = "";
    if (request->verb == OBJECT_DELETE && request->body.p) return;
    if (nonempty(request->manager)) put_parameter(out, &before, "fieldManager", request->manager);
    if (request->force) put_parameter(out, &before, "force", "true");
    if (request->dry_run) put_parameter(out, &before, "dryRun", "All");
    if (request->verb == OBJECT_TABLE) put_table_query(request, &before, out);
}

static bool put_path(const struct object_request *request, struct buf *out, struct err *err)
{
    const struct object_place *place = &request->place;
    struct str ns = str_of(place->namespace_), subresource = str_of(place->subresource);
    bool of_collection = request->verb == OBJECT_CREATE || request->verb == OBJECT_TABLE;
    if (!of_collection || subresource.n)
        return resource_object_path(place->resource, ns, str_of(place->name), subresource, out, err);
    if (ns.n && !url_name_check(ns, err)) return err_wrap(err, "namespace");
    resource_path(place->resource, ns, out);
    return true;
}

bool object_request_path(const struct object_request *request, struct buf *out, struct err *err)
{
    struct buf query = {0};
    if (request->verb == OBJECT_TEXT) {
        buf_puts(out, request->path);
        return true;
    }
    if (!put_path(request, out, err)) return false;
    object_request_query(request, &query);
    if (query.len) buf_printf(out, "?%s", buf_text(&query));
    buf_clear(&query);
    return true;
}
