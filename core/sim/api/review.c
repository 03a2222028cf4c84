/* Reviews: what lua/sim/reviews.lua asks of the server; see subresource.h. */

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/access/access.h"
#include "sim/api/subresource.h"
#include "sim/lua/lua.h"
#include "sim/managed/managed.h"
#include "sim/object/metadata.h"
#include "sim/object/status.h"
#include "sim/store/fault.h"
#include "sim/text/timestamp.h"
#include "sim/text/tree.h"

static const char user_mark[] = "user:";

/* Returns the map or list that is an argument, borrowed; NULL for anything else. */
static json_t *node(lua_State *L, int at)
{
    json_t *value = lua_islightuserdata(L, at) ? lua_touserdata(L, at) : NULL;
    return json_is_null(value) ? NULL : value;
}

/* Returns whether the fault rules allow such a request; only rules that name no resource meet "*". */
static bool is_allowed(struct sim_api *api, const json_t *resource, const json_t *other)
{
    const char *name = sim_text_at(resource, "resource"), *ns = sim_text_at(resource, "namespace");
    if (!resource)
        return !sim_faults_forbid_path(api->faults, sim_text_at(other, "verb"), sim_text_at(other, "path"));
    return !sim_faults_forbid(api->faults, sim_text_at(resource, "verb"),
                              strcmp(name, "*") == 0 ? NULL : name, *ns ? ns : NULL);
}

/* allows(user, resourceAttributes, nonResourceAttributes): whether the user may, nil being anybody, and why.
 */
static int l_allows(lua_State *L)
{
    struct sim_api *api = ((struct writing *)sim_lua_context(L))->api;
    const json_t *user = node(L, 1), *resource = node(L, 2), *other = node(L, 3);
    char *why = NULL;
    bool granted =
        !api->access || !user || sim_access_allows(api->access, user, resource ? resource : other, &why);
    lua_pushboolean(L, granted && is_allowed(api, resource, other));
    lua_pushstring(L, why);
    free(why);
    return 2;
}

/* rules(namespace): those of who asks. */
static int l_rules(lua_State *L)
{
    const struct writing *w = sim_lua_context(L);
    struct sim_access *access = w->api->access;
    sim_lua_push_new(L, access && w->request->user
                            ? sim_access_rules(access, w->request->user, luaL_checkstring(L, 1))
                            : json_array());
    return 1;
}

/* user_of(token, audiences): nil if nobody has it, and its audiences. In the process itself only "user:NAME"
 * is a token. */
static int l_user_of(lua_State *L)
{
    struct sim_access *access = ((struct writing *)sim_lua_context(L))->api->access;
    const char *token = luaL_checkstring(L, 1);
    size_t mark = sizeof user_mark - 1;
    json_t *audiences = NULL, *user = NULL;
    if (access)
        user = sim_user_of_token(sim_access_users(access), token, node(L, 2), &audiences);
    else if (strncmp(token, user_mark, mark) == 0 && token[mark])
        user = json_pack("{s:s, s:[s]}", "username", token + mark, "groups", "system:authenticated");
    sim_lua_push_new(L, user);
    sim_lua_push_new(L, audiences);
    return 2;
}

/* Completes the review; returns true, or its refusal. */
static json_t *answer(struct writing *w, json_t *review, json_t *now)
{
    lua_State *L = sim_lua_take("sim.reviews", "respond");
    sim_lua_push(L, review);
    lua_pushstring(L, w->target->namespace_);
    sim_lua_push(L, w->request->user);
    sim_lua_push(L, now);
    sim_lua_push_function(L, l_allows, w);
    sim_lua_push_function(L, l_rules, w);
    sim_lua_push_function(L, l_user_of, w);
    return sim_lua_call(L);
}

void sim_review_create(struct writing *w, json_t *review)
{
    const struct sim_served *served = w->target->served;
    const struct sim_kind nameless = {.group = served->kind->group, .kind = ""}; /* as a server has it */
    int64_t now_s = clock_wall_us(sim_clock(w->api)) / 1000000;
    const struct sim_author author = {w->by.manager, "Update", served->api_version, NULL, now_s};
    struct sim_refusal refusal = {0};
    if (!sim_check_body(served->kind, review, &refusal) || !sim_check_kind(served->kind, review, &refusal)) {
        sim_reply_status(w->reply, refusal.status);
        return;
    }
    json_t *object = json_deep_copy(review), *now = sim_time(now_s);
    json_object_set_new(object, "kind", json_string(served->kind->kind));
    json_object_set_new(object, "apiVersion", json_string(served->api_version));
    sim_submap(object, "metadata");
    sim_managed_write(served->kind, &author, NULL, review, object);
    json_t *result = answer(w, object, now);
    if (json_is_true(result)) {
        w->reply->code = 201;
        w->reply->json = json_incref(object);
    } else
        sim_reply_status(w->reply, sim_status_said(result, &nameless, ""));
    json_decref(result);
    json_decref(object);
    json_decref(now);
}
