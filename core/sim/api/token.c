/* Tokens for service accounts, whose requests lua/sim/tokens.lua answers; see subresource.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/access/access.h"
#include "sim/api/subresource.h"
#include "sim/lua/lua.h"
#include "sim/object/status.h"
#include "sim/text/tree.h"

struct token_request {
    struct sim_api *api;
    const json_t *account;
};

static int l_is_there(lua_State *L)
{
    const struct token_request *request = sim_lua_context(L);
    json_t *there = sim_stored(request->api->store, "v1", luaL_checkstring(L, 1), luaL_checkstring(L, 2));
    lua_pushboolean(L, there != NULL);
    json_decref(there);
    return 1;
}

static int l_issue(lua_State *L)
{
    const struct token_request *request = sim_lua_context(L);
    struct sim_access *access = request->api->access;
    const struct sim_account who = {
        sim_text_at(request->account, "metadata.namespace"), sim_text_at(request->account, "metadata.name"),
        sim_text_at(request->account, "metadata.uid"), lua_touserdata(L, 1), (int64_t)luaL_checknumber(L, 2)};
    char *token = access ? sim_users_issue(sim_access_users(access), &who)
                         : xasprintf("user:system:serviceaccount:%s:%s", who.namespace_, who.name);
    lua_pushstring(L, token);
    free(token);
    return 1;
}

static json_t *answer(const struct writing *w, json_t *body, struct token_request *request)
{
    int64_t now_s = clock_wall_us(sim_clock(w->api)) / 1000000;
    lua_State *L = sim_lua_take("sim.tokens", "create");
    sim_lua_push(L, body);
    sim_lua_push(L, request->account);
    lua_pushstring(L, w->by.manager);
    lua_pushnumber(L, (lua_Number)now_s);
    lua_pushstring(L, SIM_AUDIENCE);
    sim_lua_push_function(L, l_is_there, request);
    sim_lua_push_function(L, l_issue, request);
    return sim_lua_call(L);
}

static const struct schema_kind token_schema = {.group = "authentication.k8s.io",
                                                .version = "v1",
                                                .kind = "TokenRequest",
                                                .type = "authentication/v1.TokenRequest"};
static const struct sim_kind token_kind = {
    .group = "authentication.k8s.io", .version = "v1", .kind = "TokenRequest", .schema = &token_schema};

void sim_token_create(struct writing *w, const char *key)
{
    json_t *body = sim_body_of_subresource(w, &token_kind, NULL);
    if (!body) return;
    json_t *account = sim_stored(w->api->store, "v1", "ServiceAccount", key);
    struct token_request request = {w->api, account};
    json_t *result = account ? answer(w, body, &request) : NULL;
    if (!account)
        sim_reply_status(w->reply, sim_status_not_found(w->target->served->kind, w->target->name));
    else if (!json_is_object(result))
        sim_reply_status(w->reply, sim_status_said(result, &token_kind, ""));
    else {
        w->reply->code = 201;
        w->reply->json = json_incref(result);
    }
    json_decref(result);
    json_decref(account);
    json_decref(body);
}
