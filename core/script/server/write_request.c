/* Requests of writes as scripts make them; see write_request.h. */
#include "script/server/write_request.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "kube/kinds/resource.h"
#include "script/vm/args.h"

/* Bytes. All of it is stored in the write log, some in labels of metrics. Names that are path segments, such
 * as those of roles, may be longer than others; a server accepts no longer manager. */
enum { NAMESPACE_MAX = 253, NAME_MAX_BYTES = 1024, SUBRESOURCE_MAX = 63, MANAGER_MAX = 128, TYPE_MAX = 128 };

static const struct write_function functions[] = {
    [OBJECT_CREATE] = {"k8s.create", "create", WRITE_CREATE},
    [OBJECT_UPDATE] = {"k8s.update", "update", WRITE_UPDATE},
    [OBJECT_PATCH] = {"k8s.patch", "patch", WRITE_PATCH},
    [OBJECT_APPLY] = {"k8s.apply", "patch", WRITE_APPLY},
    [OBJECT_DELETE] = {"k8s.delete", "delete", WRITE_DELETE},
};

enum object_verb write_verb_arg(lua_State *L, int idx)
{
    const char *name = arg_str(L, idx, "verb").p;
    for (size_t i = OBJECT_CREATE; i < ARRAY_LEN(functions); i++)
        if (strcmp(functions[i].name, name) == 0) return (enum object_verb)i;
    script_raise(L, "no write: %s", name);
}

const struct write_function *write_function_of(const struct object_request *request)
{
    return &functions[request->verb];
}

/* Returns the string under `name`, "" without one. */
static const char *text_field(lua_State *L, int table, const char *function, const char *name, size_t max)
{
    lua_getfield(L, table, name);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        return "";
    }
    char what[64];
    snprintf(what, sizeof what, "%s: %s", function, name);
    struct str text = arg_str(L, -1, what);
    if (text.n > max) script_raise(L, "%s is longer than the limit of %d bytes", what, (int)max);
    lua_pop(L, 1); /* the table holds it */
    return text.p;
}

static bool flag_field(lua_State *L, int table, const char *name)
{
    lua_getfield(L, table, name);
    bool is = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return is;
}

static int64_t timeout_field(lua_State *L, int table, const char *function)
{
    int64_t ms = 0;
    lua_getfield(L, table, "timeout");
    if (!lua_isnil(L, -1)) {
        const char *what = lua_pushfstring(L, "%s: timeout", function);
        ms = arg_duration_ms(L, lua_gettop(L) - 1, what);
        if (ms <= 0) script_raise(L, "%s: timeout must be greater than 0", function);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return ms;
}

/* An object without its namespace may not end in a default one: that would be another object. */
static void check_place(lua_State *L, const struct object_request *r, const char *function)
{
    const struct object_place *place = &r->place;
    bool is_new = r->verb == OBJECT_CREATE && !*place->subresource;
    if (place->resource->namespaced == SCOPE_NAMESPACED && !*place->namespace_)
        script_raise(L, "%s: %s \"%s\" are namespaced; missing namespace", function, place->resource->plural,
                     place->name);
    if (!place->resource->namespaced && *place->namespace_)
        script_raise(L, "%s: %s \"%s\" are not namespaced", function, place->resource->plural, place->name);
    if (!*place->name && !is_new) script_raise(L, "%s: missing name of the object", function);
}

void write_request_read(lua_State *L, int table, struct object_request *r)
{
    const struct script_host *host = script_of(L)->host;
    const char *function = write_function_of(r)->name;
    r->place.namespace_ = text_field(L, table, function, "namespace", NAMESPACE_MAX);
    r->place.name = text_field(L, table, function, "name", NAME_MAX_BYTES);
    r->place.subresource = text_field(L, table, function, "subresource", SUBRESOURCE_MAX);
    r->manager = text_field(L, table, function, "manager", MANAGER_MAX);
    if (!*r->manager) r->manager = host->field_manager ? host->field_manager : "kubelua";
    if (r->verb == OBJECT_PATCH) r->patch_type = text_field(L, table, function, "content_type", TYPE_MAX);
    r->force = flag_field(L, table, "force");
    r->dry_run = flag_field(L, table, "dry_run");
    r->timeout_ms = timeout_field(L, table, function);
    check_place(L, r, function);
}

bool write_request_is_secret(const struct object_request *r)
{
    return strcmp(r->place.resource->plural, "secrets") == 0 ||
           strcmp(r->place.resource->group, "authentication.k8s.io") == 0;
}

void write_request_resource(const struct object_request *r, struct buf *out)
{
    resource_name(r->place.resource, out);
    if (*r->place.subresource) buf_printf(out, "/%s", r->place.subresource);
}

void write_request_object(const struct object_request *r, struct str name, struct buf *out)
{
    if (*r->place.namespace_) buf_printf(out, "%s/", r->place.namespace_);
    buf_str(out, name);
}
