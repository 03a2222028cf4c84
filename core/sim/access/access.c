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

const char *sim_access_token(const struct sim_access *access, bool has_tls)
{
    return has_tls || sim_users_are_strict(access->users) ? sim_users_admin_token(access->users) : NULL;
}

struct sim_users *sim_access_users(const struct sim_access *access)
{
    return access->users;
}

bool sim_access_allows(struct sim_access *access, const json_t *user, const json_t *attributes, char **why)
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

static void refuse(const json_t *user, const json_t *attributes, struct sim_reply *reply)
{
    const struct sim_kind kind = {.group = sim_text_at(attributes, "group"),
                                  .plural = sim_text_at(attributes, "resource")};
    lua_State *L = sim_lua_take("sim.access", "refusal");
    sim_lua_push(L, user);
    sim_lua_push(L, attributes);
    json_t *message = sim_lua_call(L), *status = sim_status(403, "Forbidden", sim_text_at(message, ""), &kind,
                                                            sim_text_at(attributes, "name"));
    if (!json_object_get(status, "details")) json_object_set_new(status, "details", json_object());
    sim_reply_status(reply, status);
    json_decref(message);
}

static bool admit(struct sim_access *access, const json_t *user, const json_t *attributes,
                  struct sim_reply *reply)
{
    char *why;
    bool allowed = sim_access_allows(access, user, attributes, &why);
    free(why);
    if (!allowed) refuse(user, attributes, reply);
    return allowed;
}

/* --- who it is */

static bool names_another(const struct sim_request *request)
{
    static const char impersonation[] = "Impersonate-";
    for (size_t i = 0; i < request->header_count; i++)
        if (strncasecmp(request->headers[i].key, impersonation, sizeof impersonation - 1) == 0) return true;
    return false;
}

json_t *sim_access_identify(struct sim_access *access, const struct sim_request *request,
                            struct sim_reply *reply)
{
    json_t *user = sim_user_of_request(access->users, request);
    bool is_nobody = !user || (!access->rbac && sim_users_are_strict(access->users) &&
                               strcmp(sim_text_at(user, "username"), "system:anonymous") == 0);
    if (is_nobody) {
        sim_reply_status(reply, sim_status(401, "Unauthorized", "Unauthorized", NULL, NULL));
        json_decref(user);
        return NULL;
    }
    if (!names_another(request)) return user;
    json_t *wanted = sim_user_impersonated(request), *other = json_incref(json_array_get(wanted, 0));
    if (json_is_array(wanted) && json_array_size(wanted) == 0) { /* he is nobody else */
        json_decref(wanted);
        return user;
    }
    bool ok = !json_is_string(other);
    if (!ok) sim_reply_status(reply, sim_status_bad_request("%s", json_string_value(other)));
    for (size_t i = 1; ok && i < json_array_size(wanted); i++)
        ok = admit(access, user, json_array_get(wanted, i), reply);
    json_decref(wanted);
    json_decref(user);
    if (ok) return other;
    json_decref(other);
    return NULL;
}

/* --- what it wants */

bool sim_access_admit(struct sim_access *access, const struct sim_request *request, const json_t *user,
                      struct sim_reply *reply)
{
    if (!access->rbac) return true;
    lua_State *L = sim_lua_take("sim.access", "attributes");
    lua_pushstring(L, request->method);
    lua_pushstring(L, request->path);
    lua_pushstring(L, sim_query(request, "fieldSelector"));
    lua_pushstring(L, sim_verb_of(request, true));
    lua_pushstring(L, sim_verb_of(request, false));
    json_t *attributes = sim_lua_call(L);
    bool ok = admit(access, user, attributes, reply);
    json_decref(attributes);
    return ok;
}
