/* POST and PUT, and which write a request is; see write_request.h. PATCH is patch_request.c, DELETE is
 * delete_request.c. */
#include "sim/api/write_request.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/api/body.h"
#include "sim/api/list.h"
#include "sim/api/subresource.h"
#include "sim/api/write_request_internal.h"
#include "sim/lua/lua.h"
#include "sim/object/metadata.h"
#include "sim/object/status.h"
#include "sim/store/write.h"
#include "sim/text/json_error.h"
#include "sim/text/tree.h"
#include "sim/validate/rules.h"

enum { BODY_MAX = 3 << 20, MANAGER_MAX = 128 };

static bool is_json(const struct writing *w)
{
    if (!*w->request->content_type || sim_has_type(w->request, "application/json") ||
        sim_has_type(w->request, "application/yaml"))
        return true;
    sim_reply_status(w->reply,
                     sim_status_unsupported_media(
                         "application/json, application/yaml, application/vnd.kubernetes.protobuf"));
    return false;
}

/* Returns an object of the kind; NULL and a response if it is anything else. */
static json_t *read_object(const struct writing *w)
{
    return is_json(w) ? sim_body_read(w) : NULL;
}

/* Warnings of a server about an object that it took. */
static void warn_of(const struct writing *w, const struct sim_written *written)
{
    const struct sim_kind *kind = w->target->served->kind;
    bool created = written->created || strcmp(w->request->method, "POST") == 0;
    const char *set = kind->custom ? "custom object" : kind->kind;
    if (w->target->subresource || strcmp(w->request->method, "DELETE") == 0 || !sim_rules_warn(set)) return;
    json_t *whole = sim_served_json(w->target->served, written->object);
    if (!w->reply->warnings) w->reply->warnings = json_array();
    sim_rules_warnings(set, created ? NULL : written->before, whole, w->reply->warnings);
    json_decref(whole);
}

void sim_write_respond(struct writing *w, struct sim_written *written)
{
    if (written->object) warn_of(w, written);
    if (sim_has_equal(w->reply->warnings, json_null())) { /* one that Lua failed to make */
        json_array_clear(w->reply->warnings);
        sim_reply_status(w->reply, sim_status_said(NULL, NULL, NULL));
    } else if (written->refusal) {
        sim_reply_status(w->reply, written->refusal);
        written->refusal = NULL;
    } else {
        sim_reply_object(w->api, w->request, w->target->served, written->object, w->reply);
        if (w->reply->code == 200 && written->created) w->reply->code = 201;
    }
    sim_written_clear(w->api, written);
}

/* A request for a certificate says who sent it; nobody may say so himself. */
static void sign(const struct writing *w, json_t *body)
{
    const struct sim_kind *kind = w->target->served->kind;
    if (!sim_kind_is(kind, "CertificateSigningRequest")) return;
    lua_State *L = sim_lua_take("sim.csrs", "sign");
    sim_lua_push(L, body);
    sim_lua_push(L, w->request->user);
    sim_lua_is(L);
}

static void create(struct writing *w)
{
    struct sim_written written;
    json_t *body = read_object(w);
    if (!body) return;
    json_object_del(json_object_get(body, "metadata"), "deletionTimestamp"); /* nobody owns it, either */
    json_object_del(json_object_get(body, "metadata"), "deletionGracePeriodSeconds");
    sign(w, body);
    if (w->target->served->kind->unstored) {
        sim_review_create(w, body);
        json_decref(body);
        return;
    }
    sim_write_create(w->api, w->target->served, w->target->namespace_, body, w->by, &written);
    sim_write_respond(w, &written);
    json_decref(body);
}

static json_t *as_given(void *ctx, const struct sim_kind *kind, const json_t *old,
                        struct sim_refusal *refusal)
{
    return json_incref(ctx);
}

/* Updates the object. Where an update may create it, the body is built from NULL. */
void sim_write_changed(struct writing *w, const char *key, sim_body_fn *body, void *ctx, bool may_create)
{
    struct sim_written written;
    const struct sim_served *served = w->target->served;
    if (sim_write_is_scale(w)) {
        sim_scale_write(w, key, body, ctx);
        return;
    }
    sim_write_update(w->api, served, key, w->target->subresource, body, ctx, w->by, &written);
    bool is_there = !written.refusal || sim_status_code(written.refusal) != 404;
    if (!is_there && may_create && !w->target->subresource) {
        struct sim_refusal refusal = {0};
        json_t *object = body(ctx, served->kind, NULL, &refusal);
        sim_written_clear(w->api, &written);
        refusal.tried = w->by.dry_run;
        if (object && sim_check_created_by_update(served->kind, object, w->target->name,
                                                  w->target->namespace_, &refusal))
            sim_write_create(w->api, served, w->target->namespace_, object, w->by, &written);
        else
            written.refusal = refusal.status;
        json_decref(object);
    }
    sim_write_respond(w, &written);
}

/* The body is looked at before the object is: what is wrong with it is told of a missing object, too. */
static void update(struct writing *w, const char *key)
{
    const struct sim_target *target = w->target;
    const struct sim_kind *kind = target->served->kind;
    struct sim_refusal refusal = {0};
    json_t *body = read_object(w);
    if (!body) return;
    if (sim_write_is_scale(w))
        sim_write_changed(w, key, as_given, body, false);
    else if (sim_check_body(kind, body, &refusal) &&
             sim_check_identity(target->name, target->namespace_, body, &refusal))
        sim_write_changed(w, key, as_given, body, kind->created_by_update);
    else
        sim_reply_status(w->reply, refusal.status);
    json_decref(body);
}

/* Refuses the method; of custom kinds with the words of their own handler. */
static void not_allowed(const struct writing *w)
{
    const struct sim_kind *kind = w->target->served->kind;
    const char *verb = sim_verb_of(w->request, w->target->name && !w->target->subresource);
    if (!kind->custom) {
        sim_reply_not_allowed(w->reply);
        return;
    }
    char *resource = sim_qualified_resource(kind),
         *message = xasprintf("%s is not supported on resources of kind \"%s\"", verb, resource);
    sim_reply_status(w->reply, sim_status(405, "MethodNotAllowed", message, kind, NULL));
    free(message);
    free(resource);
}

static void write_object(struct writing *w, const char *method)
{
    const char *subresource = w->target->subresource;
    char *key = sim_target_key(w->target, w->target->name);
    if (strcmp(method, "PUT") == 0)
        update(w, key);
    else if (strcmp(method, "PATCH") == 0)
        sim_patch_one(w, key);
    else if (strcmp(method, "DELETE") == 0 && !subresource)
        sim_delete_one(w, key);
    else if (strcmp(method, "POST") == 0 && subresource && strcmp(subresource, "binding") == 0)
        sim_bind(w, key);
    else if (strcmp(method, "POST") == 0 && subresource && strcmp(subresource, "eviction") == 0)
        sim_evict(w, key);
    else if (strcmp(method, "POST") == 0 && subresource && strcmp(subresource, "token") == 0)
        sim_token_create(w, key);
    else if (strcmp(method, "POST") == 0 && !subresource && w->target->served->kind->custom)
        create(w); /* the name is that of the body */
    else
        not_allowed(w);
    free(key);
}

/* Name that a client has by its User-Agent: "kubectl" of "kubectl/v1.36.0 (linux/amd64)". */
static void name_of_agent(const struct sim_request *request, char name[static MANAGER_MAX + 1])
{
    const char *agent = sim_header(request, "User-Agent");
    size_t n = 0;
    struct str rest = {agent, agent ? strcspn(agent, "/") : 0};
    while (rest.n) {
        size_t length = str_utf8(rest);
        bool printed = length && (unsigned char)*rest.p >= ' ' && *rest.p != 0x7f;
        if (!length) length = 1;
        if (printed && n + length > MANAGER_MAX) break;
        if (printed) memcpy(name + n, rest.p, length);
        if (printed) n += length;
        rest = (struct str){rest.p + length, rest.n - length};
    }
    name[n] = '\0';
}

void sim_write_request(struct sim_api *api, const struct sim_request *request,
                       const struct sim_target *target, struct sim_reply *reply)
{
    const char *manager = sim_query(request, "fieldManager");
    char agent[MANAGER_MAX + 1];
    name_of_agent(request, agent);
    struct writing w = {.api = api, .request = request, .target = target, .reply = reply};
    w.by.manager = nonempty(manager) ? manager : agent;
    w.by.checked = true;
    json_t *refusal = sim_write_options_of(request, target->served->kind);
    bool everywhere = target->served->kind->namespaced && !target->namespace_;
    sim_count(&api->stats.writes, 1);
    sim_body_options(&w);
    if (request->body.n > BODY_MAX) {
        json_decref(refusal); /* the body is read before the options are */
        refusal = sim_status(413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728", NULL,
                             NULL);
    }
    if (strcmp(request->method, "POST") == 0 && !is_json(&w)) /* before the options, of a POST alone */
        json_decref(refusal);
    else if (refusal)
        sim_reply_status(reply, refusal);
    else if (target->name)
        write_object(&w, request->method);
    else if (target->served->kind->unstored && strcmp(target->served->kind->kind, "Binding") == 0)
        sim_bind_named(&w);
    else if (strcmp(request->method, "POST") == 0 && !everywhere)
        create(&w);
    else if (strcmp(request->method, "DELETE") == 0 && !everywhere &&
             !target->served->kind->no_delete_collection)
        sim_delete_collection(&w);
    else if (everywhere && target->served->kind->custom)
        sim_reply_no_page(reply);
    else if (target->served->kind->custom && strcmp(request->method, "PATCH") == 0 && !sim_patch_has_type(&w))
        ; /* that was it */
    else if (target->served->kind->custom && strcmp(request->method, "PUT") == 0)
        sim_reply_status(reply, sim_status_bad_request("name must be provided"));
    else
        not_allowed(&w);
}
