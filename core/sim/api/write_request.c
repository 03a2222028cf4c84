/* POST, PUT and PATCH, and which write a request is; see write_request.h. DELETE is delete_request.c. */
#include "sim/api/write_request.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/yaml/yaml_documents.h"
#include "sim/api/body.h"
#include "sim/api/list.h"
#include "sim/api/subresource.h"
#include "sim/api/write_options.h"
#include "sim/api/write_request_internal.h"
#include "sim/managed/apply.h"
#include "sim/object/metadata.h"
#include "sim/object/patch.h"
#include "sim/object/status.h"
#include "sim/store/write.h"
#include "sim/text/json_error.h"
#include "sim/text/tree.h"

#define PATCH_TYPES "application/json-patch+json, application/merge-patch+json"
#define STRATEGIC   "application/strategic-merge-patch+json"
#define APPLY       "application/apply-patch+yaml"

enum { BODY_MAX = 3 << 20, CONFIGURATION_MAX = 64 << 20, MANAGER_MAX = 128 };

static bool has_type(const struct sim_request *request, const char *type)
{
    size_t n = strlen(type);
    return strncmp(request->content_type, type, n) == 0 &&
           (!request->content_type[n] || strchr("; ", request->content_type[n]));
}

json_t *sim_write_body(const struct writing *w, const char *what)
{
    char *why;
    json_error_t error;
    json_t *body = sim_parse(w->request->body, JSON_DECODE_ANY, &error);
    if (body) return body;
    json_decref(sim_parse_body(w->request->body, &why));
    sim_reply_status(w->reply, sim_status_bad_request("%s: %s", what, why));
    free(why);
    return NULL;
}

static bool is_json(const struct writing *w)
{
    if (!*w->request->content_type || has_type(w->request, "application/json")) return true;
    sim_reply_status(w->reply, sim_status_unsupported_media("application/json"));
    return false;
}

/* Returns an object of the kind; NULL and a response if it is anything else. */
static json_t *read_object(const struct writing *w)
{
    return is_json(w) ? sim_body_read(w) : NULL;
}

void sim_write_respond(struct writing *w, struct sim_written *written)
{
    if (written->refusal) {
        sim_reply_status(w->reply, written->refusal);
        written->refusal = NULL;
    } else {
        sim_reply_object(w->request, w->target->served, written->object, w->reply);
        if (w->reply->code == 200 && written->created) w->reply->code = 201;
    }
    sim_written_clear(w->api, written);
}

static void create(struct writing *w)
{
    struct sim_written written;
    json_t *body = read_object(w);
    if (!body) return;
    sim_write_create(w->api, w->target->served, w->target->namespace_, body, w->by, &written);
    sim_write_respond(w, &written);
    json_decref(body);
}

/* Applies a Binding, which names the node; the pod is the one of the path. */
static json_t *bound(void *ctx, const struct sim_kind *kind, const json_t *old, struct sim_refusal *refusal)
{
    json_t *pod = json_deep_copy(old);
    json_object_set_new(sim_submap(pod, "spec"), "nodeName", sim_string(sim_text_at(ctx, "target.name")));
    return pod;
}

static void bind_pod(struct writing *w, const char *key)
{
    struct sim_written written;
    json_t *body = is_json(w) ? sim_write_body(w, "couldn't get version/kind; json parse error") : NULL;
    if (!body) return;
    sim_write_update(w->api, w->target->served, key, "binding", bound, body,
                     (struct sim_writer){.dry_run = w->by.dry_run}, &written);
    json_decref(body);
    sim_reply_status(w->reply, written.refusal ? json_incref(written.refusal)
                                               : sim_status(201, NULL, NULL, NULL, NULL));
    sim_written_clear(w->api, &written);
}

static bool is_scale(const struct writing *w)
{
    return w->target->subresource && strcmp(w->target->subresource, "scale") == 0;
}

static json_t *as_given(void *ctx, const struct sim_kind *kind, const json_t *old,
                        struct sim_refusal *refusal)
{
    return json_incref(ctx);
}

/* Updates the object. Where an update may create it, the body is built from NULL. */
static void write_body(struct writing *w, const char *key, sim_body_fn *body, void *ctx, bool may_create)
{
    struct sim_written written;
    const struct sim_served *served = w->target->served;
    if (is_scale(w)) {
        sim_scale_write(w, key, body, ctx);
        return;
    }
    sim_write_update(w->api, served, key, w->target->subresource, body, ctx, w->by, &written);
    bool is_there = !written.refusal || sim_status_code(written.refusal) != 404;
    if (!is_there && may_create && !w->target->subresource) {
        struct sim_refusal refusal = {0};
        json_t *object = body(ctx, served->kind, NULL, &refusal);
        json_object_del(json_object_get(object, "metadata"), "resourceVersion");
        sim_written_clear(w->api, &written);
        if (object)
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
    json_t *body = is_scale(w)
                       ? is_json(w) ? sim_write_body(w, "couldn't get version/kind; json parse error") : NULL
                       : read_object(w);
    if (!body) return;
    if (is_scale(w))
        write_body(w, key, as_given, body, false);
    else if (sim_check_body(kind, body, &refusal) &&
             sim_check_identity(target->name, target->namespace_, body, &refusal))
        write_body(w, key, as_given, body, kind->created_by_update);
    else
        sim_reply_status(w->reply, refusal.status);
    json_decref(body);
}

static json_t *merged(void *ctx, const struct sim_kind *kind, const json_t *old, struct sim_refusal *refusal)
{
    return sim_patch_merge(old, ctx);
}

static json_t *merged_by_key(void *ctx, const struct sim_kind *kind, const json_t *old,
                             struct sim_refusal *refusal)
{
    char *message;
    json_t *result = sim_patch_strategic(old, ctx, &message);
    if (!result) refusal->status = sim_status(500, NULL, message, NULL, NULL);
    free(message);
    return result;
}

/* Applies a JSON patch; the real server does not tell why one fails. */
static json_t *patched(void *ctx, const struct sim_kind *kind, const json_t *old, struct sim_refusal *refusal)
{
    char *message = NULL;
    json_t *result = sim_patch_json(old, ctx, &message);
    if (!result) {
        refusal->status = sim_status_generic(422);
        json_object_set_new(refusal->status, "details", json_object());
    }
    free(message);
    return result;
}

/* Refuses a patch type. */
static void refuse_type(const struct writing *w)
{
    json_t *status;
    if (w->target->served->kind->custom)
        status = sim_status_unsupported_media(PATCH_TYPES ", " APPLY);
    else {
        status = sim_status_generic(415);
        json_object_set_new(status, "details", json_object());
    }
    sim_reply_status(w->reply, status);
}

/* --- server-side apply */

static json_t *applied(void *ctx, const struct sim_kind *kind, const json_t *old, struct sim_refusal *refusal)
{
    return sim_applied(kind, old, ctx, refusal);
}

/* Returns the first document of YAML; NULL with an error. */
static json_t *read_yaml(struct str text, struct err *err)
{
    const struct yaml_source source = {.text = text, .max = CONFIGURATION_MAX, .max_name = "64Mi of a body"};
    struct buf json = {0};
    json_error_t error;
    json_t *documents = NULL;
    if (yaml_read_source(&source, &json, err)) {
        documents = sim_parse(buf_slice(&json), 0, &error);
        if (!documents) err_set(err, ERR_PARSE, "%s", error.text);
    }
    json_t *first = json_incref(json_array_get(documents, 0));
    if (documents && !first) first = json_object();
    json_decref(documents);
    buf_clear(&json);
    return first;
}

/* Returns the configuration; NULL and a response if it is neither JSON nor YAML, or no map. */
static json_t *read_configuration(const struct writing *w)
{
    json_error_t error;
    struct err err = {0};
    json_t *given = sim_parse(w->request->body, 0, &error);
    if (!given) given = read_yaml(w->request->body, &err);
    if (json_is_object(given)) return given;
    sim_reply_status(w->reply,
                     sim_status_bad_request("error decoding YAML: %s", given ? "it is not a map" : err.text));
    json_decref(given);
    return NULL;
}

/* Applies the body; creates the object if it does not exist. */
static void apply(struct writing *w, const char *key)
{
    json_t *given = read_configuration(w);
    struct sim_apply apply = {.given = given,
                              .name = w->target->name,
                              .force = sim_query_true(w->request, "force"),
                              .author = {w->by.manager, "Apply", w->target->served->api_version,
                                         w->target->subresource, clock_wall_us(sim_clock(w->api)) / 1000000}};
    struct sim_patch_body typed = {w, applied, &apply, .applied = true};
    w->by.manager = NULL; /* the owners are in the result */
    if (given) write_body(w, key, sim_body_patched, &typed, true);
    json_decref(given);
}

/* --- patches */

#define MAP_TYPE       "map[string]interface {}"
#define OPERATION_TYPE "handlers.jsonPatchOp"

/* Returns the patch, a map or a list of maps; NULL and a response if it is neither. */
static json_t *read_patch(const struct writing *w, sim_body_fn *body)
{
    bool list = body == patched;
    char *why;
    json_t *given = sim_parse_as(w->request->body, list ? JSON_ARRAY : JSON_OBJECT,
                                 list ? "[]" OPERATION_TYPE : MAP_TYPE, &why),
           *operation;
    size_t i;
    json_array_foreach (given, i, operation)
        if (!why && !json_is_object(operation))
            why = xasprintf("json: cannot unmarshal %s into Go value of type " OPERATION_TYPE,
                            sim_json_type(operation));
    json_t *refusal = NULL;
    if (why)
        refusal = sim_status_bad_request("%s%s", body == merged_by_key ? "" : "error decoding patch: ", why);
    else if (json_is_null(given) && body == merged)
        refusal = sim_status_bad_request("Invalid JSON Patch");
    free(why);
    if (!refusal && !json_is_null(given)) return given;
    json_decref(given);
    if (!refusal) return list ? json_array() : json_object();
    sim_reply_status(w->reply, refusal);
    return NULL;
}

/* Patches of other types are refused before their options are looked at. */
static bool is_patch_type(const struct sim_request *request, const struct sim_kind *kind)
{
    return has_type(request, "application/merge-patch+json") ||
           has_type(request, "application/json-patch+json") || has_type(request, APPLY) ||
           (!kind->custom && has_type(request, STRATEGIC));
}

static void patch(struct writing *w, const char *key)
{
    bool strategic = !w->target->served->kind->custom; /* those have no merge keys */
    sim_body_fn *body = has_type(w->request, "application/merge-patch+json")  ? merged
                        : has_type(w->request, "application/json-patch+json") ? patched
                        : strategic && has_type(w->request, STRATEGIC)        ? merged_by_key
                                                                              : NULL;
    if (!body && has_type(w->request, APPLY)) {
        apply(w, key);
        return;
    }
    if (!body) {
        refuse_type(w);
        return;
    }
    struct sim_object *there = sim_store_ref(w->api->store, w->target->served->resource, key);
    if (!there) {
        sim_reply_status(w->reply, sim_status_not_found(w->target->served->kind, w->target->name));
        return;
    }
    sim_store_release(w->api->store, there);
    json_t *given = read_patch(w, body);
    if (!given) return;
    struct sim_patch_body typed = {w, body, given, .strategic = body == merged_by_key};
    if (is_scale(w))
        write_body(w, key, body, given, false);
    else
        write_body(w, key, sim_body_patched, &typed, false);
    json_decref(given);
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
        patch(w, key);
    else if (strcmp(method, "DELETE") == 0 && !subresource)
        sim_delete_one(w, key);
    else if (strcmp(method, "POST") == 0 && subresource && strcmp(subresource, "binding") == 0)
        bind_pod(w, key);
    else if (strcmp(method, "POST") == 0 && subresource && strcmp(subresource, "eviction") == 0)
        sim_evict(w, key);
    else
        not_allowed(w);
    free(key);
}

static json_t *options_refused(const struct sim_request *request, const struct sim_kind *kind)
{
    if (strcmp(request->method, "POST") == 0) return sim_write_options_refused(request, SIM_WRITE_CREATE);
    if (strcmp(request->method, "PUT") == 0) return sim_write_options_refused(request, SIM_WRITE_UPDATE);
    if (strcmp(request->method, "PATCH") != 0 || !is_patch_type(request, kind)) return NULL;
    return sim_write_options_refused(request, has_type(request, APPLY) ? SIM_WRITE_APPLY : SIM_WRITE_PATCH);
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
    json_t *refusal = options_refused(request, target->served->kind);
    bool everywhere = target->served->kind->namespaced && !target->namespace_;
    sim_count(&api->stats.writes, 1);
    sim_body_options(&w);
    if (!refusal && request->body.n > BODY_MAX)
        refusal = sim_status(413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728", NULL,
                             NULL);
    if (refusal)
        sim_reply_status(reply, refusal);
    else if (target->name)
        write_object(&w, request->method);
    else if (strcmp(request->method, "POST") == 0 && !everywhere)
        create(&w);
    else if (strcmp(request->method, "DELETE") == 0 && !everywhere &&
             !target->served->kind->no_delete_collection)
        sim_delete_collection(&w);
    else if (everywhere && target->served->kind->custom)
        sim_reply_no_page(reply);
    else if (target->served->kind->custom && strcmp(request->method, "PUT") == 0)
        sim_reply_status(reply, sim_status_bad_request("name must be provided"));
    else
        not_allowed(&w);
}
