/* Tokens for service accounts; see subresource.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/access/access.h"
#include "sim/api/subresource.h"
#include "sim/object/status.h"
#include "sim/text/timestamp.h"
#include "sim/text/tree.h"

enum { SHORTEST_S = 600, USUAL_S = 3600 };

static const struct sim_kind token_kind = {.group = "authentication.k8s.io", .kind = "TokenRequest"};

/* Returns why a token cannot depend on that object; NULL if it can. */
static json_t *check_bound(struct sim_api *api, const json_t *bound, const char *namespace_)
{
    const char *kind = sim_text_at(bound, "kind"), *name = sim_text_at(bound, "name");
    const bool is_node = strcmp(kind, "Node") == 0, is_pod = strcmp(kind, "Pod") == 0;
    if (!json_is_object(bound)) return NULL;
    if (!is_node && !is_pod && strcmp(kind, "Secret") != 0)
        return sim_status_bad_request("cannot bind token to object of type /%s, Kind=%s",
                                      sim_text_at(bound, "apiVersion"), kind);
    char *key = is_node ? xstrdup(name) : xasprintf("%s/%s", namespace_, name);
    json_t *there = sim_stored(api->store, "v1", kind, key);
    const struct sim_kind named = {.group = "", .plural = is_node ? "nodes" : is_pod ? "pods" : "secrets"};
    json_t *refusal = there ? NULL : sim_status_not_found(&named, name);
    json_decref(there);
    free(key);
    return refusal;
}

static json_t *check(struct sim_api *api, const json_t *account, const json_t *spec)
{
    const json_t *given = json_object_get(spec, "expirationSeconds");
    json_int_t seconds = given ? json_integer_value(given) : USUAL_S;
    if (seconds < SHORTEST_S || seconds > (json_int_t)1 << 32)
        return sim_status_invalid(&token_kind, "", "FieldValueInvalid", "spec.expirationSeconds", given,
                                  seconds < SHORTEST_S
                                      ? "may not specify a duration less than 10 minutes"
                                      : "may not specify a duration larger than 2^32 seconds");
    return check_bound(api, json_object_get(spec, "boundObjectRef"),
                       sim_text_at(account, "metadata.namespace"));
}

/* Fields of the request that its sender owns; a server adds audiences later. */
static json_t *owned_of(const json_t *spec)
{
    json_t *fields = json_pack("{s{}}", "f:expirationSeconds"), *value;
    const char *key;
    json_object_foreach ((json_t *)spec, key, value) {
        char *name = xasprintf("f:%s", key);
        json_object_set_new(fields, name, json_object());
        free(name);
    }
    return json_pack("{so}", "f:spec", fields);
}

/* Completes the request, and gives it the token. */
static void respond(struct writing *w, const json_t *account, json_t *body)
{
    json_t *spec = sim_submap(body, "spec"), *audiences = json_object_get(spec, "audiences");
    json_t *owned = owned_of(spec);
    int64_t now_s = clock_wall_us(sim_clock(w->api)) / 1000000,
            until_s = now_s + sim_int_at(spec, "expirationSeconds", USUAL_S);
    if (!json_array_size(audiences))
        json_object_set_new(spec, "audiences", audiences = json_pack("[s]", SIM_AUDIENCE));
    sim_default(spec, "expirationSeconds", json_integer(USUAL_S));
    sim_default(spec, "boundObjectRef", json_null());
    const struct sim_account who = {sim_text_at(account, "metadata.namespace"),
                                    sim_text_at(account, "metadata.name"),
                                    sim_text_at(account, "metadata.uid"), audiences, until_s};
    char *token = w->api->access ? sim_users_issue(sim_access_users(w->api->access), &who)
                                 : xasprintf("user:system:serviceaccount:%s:%s", who.namespace_, who.name);
    w->reply->code = 201;
    w->reply->json =
        json_pack("{ss ss s{ss ss ss so s[{ss ss ss ss ss so so}]} sO s{ss so}}", "kind", token_kind.kind,
                  "apiVersion", "authentication.k8s.io/v1", "metadata", "name", who.name, "namespace",
                  who.namespace_, "uid", who.uid, "creationTimestamp", sim_time(now_s), "managedFields",
                  "manager", w->by.manager, "operation", "Update", "apiVersion", "authentication.k8s.io/v1",
                  "subresource", "token", "fieldsType", "FieldsV1", "time", sim_time(now_s), "fieldsV1",
                  owned, "spec", spec, "status", "token", token, "expirationTimestamp", sim_time(until_s));
    free(token);
}

void sim_token_create(struct writing *w, const char *key)
{
    json_t *body = sim_write_body(w, "couldn't get version/kind; json parse error");
    if (!body) return;
    json_t *account = sim_stored(w->api->store, "v1", "ServiceAccount", key);
    json_t *refusal = account ? check(w->api, account, json_object_get(body, "spec"))
                              : sim_status_not_found(w->target->served->kind, w->target->name);
    if (refusal)
        sim_reply_status(w->reply, refusal);
    else
        respond(w, account, body);
    json_decref(account);
    json_decref(body);
}
