/* Authentication and authorization; see access.h. */
#include "sim/access/access.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "sim/lua/lua.h"
#include "sim/object/status.h"
#include "sim/text/tree.h"

struct sim_access {
    struct sim_users *users;
    struct sim_rbac *rbac; /* NULL: everybody may do everything */
};

struct sim_access *sim_access_new(struct sim_api *api, const struct sim_access_options *options,
                                  struct err *err)
{
    struct sim_access *access = NEW(struct sim_access);
    access->users = sim_users_new(options->token_file, options->token_file || options->rbac, err);
    if (options->rbac) access->rbac = sim_rbac_new(api);
    if (access->users) return access;
    sim_access_free(access);
    return NULL;
}

void sim_access_free(struct sim_access *access)
{
    if (!access) return;
    sim_rbac_free(access->rbac);
    sim_users_free(access->users);
    free(access);
}

const char *sim_access_token(const struct sim_access *access)
{
    return sim_users_are_strict(access->users) ? sim_users_admin_token(access->users) : NULL;
}

struct sim_users *sim_access_users(const struct sim_access *access)
{
    return access->users;
}

bool sim_access_allows(struct sim_access *access, const json_t *user, const struct sim_attributes *attributes,
                       char **why)
{
    *why = NULL;
    return !access->rbac || sim_rbac_allows(access->rbac, user, attributes, why);
}

json_t *sim_access_rules(struct sim_access *access, const json_t *user, const char *namespace_)
{
    if (access->rbac) return sim_rbac_rules(access->rbac, user, namespace_);
    return json_pack("[{s:[s], s:[s], s:[s]}, {s:[s], s:[s]}]", "verbs", "*", "apiGroups", "*", "resources",
                     "*", "verbs", "*", "nonResourceURLs", "*");
}

/* --- refusals */

static void refuse(const json_t *user, const struct sim_attributes *a, struct sim_reply *reply)
{
    const struct sim_kind kind = {.group = (char *)a->group, .plural = (char *)a->resource};
    lua_State *L = sim_lua_take("sim.access", "refusal");
    sim_lua_push(L, user);
    sim_lua_push_new(L, sim_attributes_json(a));
    json_t *message = sim_lua_call(L),
           *status = sim_status(403, "Forbidden", sim_text_at(message, ""), &kind, a->name);
    if (!json_object_get(status, "details")) json_object_set_new(status, "details", json_object());
    sim_reply_status(reply, status);
    json_decref(message);
}

static bool admit(struct sim_access *access, const json_t *user, const struct sim_attributes *attributes,
                  struct sim_reply *reply)
{
    char *why;
    bool allowed = sim_access_allows(access, user, attributes, &why);
    free(why);
    if (!allowed) refuse(user, attributes, reply);
    return allowed;
}

/* --- who it is */

/* Returns whether the user may act as another one, with these groups. */
static bool may_impersonate(struct sim_access *access, const json_t *user, const json_t *other,
                            struct sim_reply *reply)
{
    static const char account[] = "system:serviceaccount:";
    const char *name = sim_text_at(other, "username");
    struct sim_attributes a = {"impersonate", "", "users", "", "", name, ""};
    char *namespace_ = NULL;
    if (strncmp(name, account, sizeof account - 1) == 0 && strchr(name + sizeof account - 1, ':')) {
        namespace_ = xstrdup(name + sizeof account - 1);
        a.resource = "serviceaccounts";
        a.namespace_ = namespace_;
        a.name = strchr(name + sizeof account - 1, ':') + 1;
        *strchr(namespace_, ':') = '\0';
    }
    bool ok = admit(access, user, &a, reply);
    free(namespace_);
    return ok;
}

/* Groups that the request names; those of every user and account come with the user. */
static bool may_take_groups(struct sim_access *access, const json_t *user, const struct sim_request *request,
                            struct sim_reply *reply)
{
    for (size_t i = 0; i < request->header_count; i++) {
        const struct sim_param *header = &request->headers[i];
        const struct sim_attributes a = {"impersonate", "", "groups", "", "", header->value, ""};
        if (strcasecmp(header->key, "Impersonate-Group") == 0 && !admit(access, user, &a, reply))
            return false;
    }
    return true;
}

json_t *sim_access_identify(struct sim_access *access, const struct sim_request *request,
                            struct sim_reply *reply)
{
    json_t *user = sim_user_of_request(access->users, request), *other;
    bool is_nobody = !user || (!access->rbac && sim_users_are_strict(access->users) &&
                               strcmp(sim_text_at(user, "username"), "system:anonymous") == 0);
    if (is_nobody) {
        sim_reply_status(reply, sim_status(401, "Unauthorized", "Unauthorized", NULL, NULL));
        json_decref(user);
        return NULL;
    }
    if (!(other = sim_user_impersonated(request))) return user;
    bool ok = may_impersonate(access, user, other, reply) && may_take_groups(access, user, request, reply);
    json_decref(user);
    if (ok) return other;
    json_decref(other);
    return NULL;
}

/* --- what it wants */

enum { PARTS_MAX = 8 };

/* Path of a request, split at the slashes. */
struct path_parts {
    char *copy, *part[PARTS_MAX];
    size_t count;
};

static struct path_parts split(const char *path)
{
    struct path_parts parts = {.copy = xstrdup(path)};
    char *rest = parts.copy;
    for (char *part; parts.count < PARTS_MAX && (part = strsep(&rest, "/"));)
        if (*part) parts.part[parts.count++] = part;
    return parts;
}

static const char *part(const struct path_parts *parts, size_t i)
{
    return i < parts->count ? parts->part[i] : "";
}

/* Finds resource, namespace and name as kube-apiserver's RequestInfo does, of kinds that are not served, too.
 */
static void read_resource(const struct path_parts *parts, size_t at, struct sim_attributes *a)
{
    bool is_inside = strcmp(part(parts, at), "namespaces") == 0 && *part(parts, at + 1);
    const char *below = part(parts, at + 2);
    if (is_inside) a->namespace_ = part(parts, at + 1);
    if (is_inside && *below && strcmp(below, "status") != 0 && strcmp(below, "finalize") != 0) at += 2;
    a->resource = part(parts, at);
    a->name = part(parts, at + 1);
    a->subresource = part(parts, at + 2);
}

/* A list or a watch of one name counts as one of that object. */
static void read_name(const struct sim_request *request, struct sim_attributes *a)
{
    static const char mark[] = "metadata.name=";
    const char *fields = sim_query(request, "fieldSelector");
    if (!*a->name && fields && strncmp(fields, mark, sizeof mark - 1) == 0 && !strchr(fields, ','))
        a->name = fields + sizeof mark - 1;
}

bool sim_access_admit(struct sim_access *access, const struct sim_request *request, const json_t *user,
                      struct sim_reply *reply)
{
    struct sim_attributes a = {"", "", "", "", "", "", request->path};
    if (!access->rbac) return true;
    struct path_parts parts = split(request->path);
    char *method = sim_lower(request->method);
    if (strcmp(part(&parts, 0), "api") == 0 && parts.count >= 3) {
        read_resource(&parts, 2, &a);
    } else if (strcmp(part(&parts, 0), "apis") == 0 && parts.count >= 4) {
        a.group = part(&parts, 1);
        read_resource(&parts, 3, &a);
    }
    a.verb = *a.resource ? sim_verb_of(request, *a.name) : method;
    if (*a.resource && !*a.name) read_name(request, &a);
    bool ok = admit(access, user, &a, reply);
    free(method);
    free(parts.copy);
    return ok;
}
