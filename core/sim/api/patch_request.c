/* PATCH: merge, JSON and strategic merge patches, and server-side apply; see write_request_internal.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/api/body.h"
#include "sim/api/encode.h"
#include "sim/api/subresource.h"
#include "sim/api/write_options.h"
#include "sim/managed/apply.h"
#include "sim/object/patch.h"
#include "sim/object/status.h"
#include "sim/text/json_error.h"
#include "sim/text/tree.h"
#include "sim/validate/decode.h"
#include "sim/validate/duplicates.h"

#define PATCH_TYPES "application/json-patch+json, application/merge-patch+json"
#define STRATEGIC   "application/strategic-merge-patch+json"
#define APPLY       "application/apply-patch+yaml"

/* A server patches what it would send: fields in the order of its Go types, and of custom kinds by their
 * names.
 */
static json_t *as_sent(const struct sim_kind *kind, const json_t *old)
{
    const struct schema_type *type = schema_type_of_kind(kind->schema);
    struct sim_decoding decoding = {0};
    char *text = kind->custom ? json_dumps(old, JSON_SORT_KEYS) : NULL;
    json_t *sent = text   ? json_loads(text, JSON_ALLOW_NUL, NULL)
                   : type ? sim_decode(type, old, &decoding)
                          : NULL;
    free(text);
    free(decoding.error);
    json_decref(decoding.unknown);
    return sent ? sent : json_incref((json_t *)old);
}

static json_t *merged(void *ctx, const struct sim_kind *kind, const json_t *old, struct sim_refusal *refusal)
{
    json_t *sent = as_sent(kind, old), *result = sim_patch_merge(sent, ctx);
    json_decref(sent);
    return result;
}

static json_t *merged_by_key(void *ctx, const struct sim_kind *kind, const json_t *old,
                             struct sim_refusal *refusal)
{
    char *message;
    json_t *result = sim_patch_strategic(schema_type_of_kind(kind->schema), old, ctx, &message);
    if (!result)
        refusal->status = strstr(message, "invalid patch format") == message
                              ? sim_status_bad_request("%s", message)
                              : sim_status(500, NULL, message, NULL, NULL);
    free(message);
    return result;
}

/* Applies a JSON patch; the real server does not tell why one fails. */
static json_t *patched(void *ctx, const struct sim_kind *kind, const json_t *old, struct sim_refusal *refusal)
{
    json_t *sent = as_sent(kind, old), *result = sim_patch_json(sent, ctx, NULL);
    json_decref(sent);
    if (!result) {
        refusal->status = sim_status_generic(422);
        json_object_set_new(refusal->status, "details", json_object());
    }
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

struct apply_body {
    struct sim_apply how; /* first: it is what the body of a patch has for its context */
    const struct writing *w;
};

/* Refuses keys that stand twice. */
static json_t *twice_refused(const json_t *twice)
{
    struct buf text = {0};
    size_t i;
    json_t *problem;
    json_array_foreach ((json_t *)twice, i, problem) buf_printf(&text, "\n  %s", json_string_value(problem));
    json_t *status =
        sim_status_bad_request("error strict decoding YAML: error converting YAML to JSON: yaml: "
                               "unmarshal errors:%s",
                               buf_text(&text));
    buf_clear(&text);
    return status;
}

/* A server looks for keys that stand twice after conflicts. */
static json_t *applied(void *ctx, const struct sim_kind *kind, const json_t *old, struct sim_refusal *refusal)
{
    const struct apply_body *a = ctx;
    json_t *object = sim_applied(kind, old, &a->how, refusal),
           *twice = object ? sim_duplicates(a->w->request->body, NULL, true) : json_array();
    if (a->w->strict && json_array_size(twice)) {
        refusal->status = twice_refused(twice);
        json_decref(object);
        object = NULL;
    } else if (!a->w->ignores_unknown && json_array_size(twice)) {
        if (!a->w->reply->warnings) a->w->reply->warnings = json_array();
        json_array_extend(a->w->reply->warnings, twice);
    }
    json_decref(twice);
    return object;
}

/* Returns the configuration; NULL and a response if it is neither JSON nor YAML, or no map. */
static json_t *read_configuration(const struct writing *w)
{
    struct err err = {0};
    json_t *given = sim_read_yaml(w->request->body, true, &err);
    if (json_is_object(given)) return given;
    if (json_is_null(given)) return json_object();
    char *why =
        given ? xasprintf("error unmarshaling JSON: while decoding JSON: json: cannot unmarshal %s into Go "
                          "value of type map[string]interface {}",
                          sim_json_type(given))
              : xasprintf("error converting YAML to JSON: %s", err.text);
    sim_reply_status(w->reply, sim_status_bad_request("error decoding YAML: %s", why));
    free(why);
    json_decref(given);
    return NULL;
}

/* Applies the body; creates the object if it does not exist. */
static void apply(struct writing *w, const char *key)
{
    json_t *given = read_configuration(w);
    const char *sub = w->target->subresource;
    bool is_scale = sub && strcmp(sub, "scale") == 0;
    struct apply_body applying = {
        {.given = given,
         .force = sim_query_true(w->request, "force"),
         .author = {w->by.manager, "Apply", is_scale ? "autoscaling/v1" : w->target->served->api_version, sub,
                    clock_wall_us(sim_clock(w->api)) / 1000000}},
        w};
    struct sim_patch_body typed = {w, applied, &applying, .applied = true};
    w->by.manager = NULL; /* the owners are in the result */
    if (given) sim_write_changed(w, key, sim_body_patched, &typed, true);
    json_decref(given);
}

/* --- patches */

#define MAP_TYPE "map[string]interface {}"

/* Returns the patch, a map or a list of maps; NULL and a response if it is neither. */
static json_t *read_patch(const struct writing *w, sim_body_fn *body)
{
    bool list = body == patched;
    bool unread = body != merged_by_key && w->ignores_unknown; /* a server looks for unknown fields first */
    json_error_t error;
    json_t *array = unread && body == merged ? sim_parse(w->request->body, 0, &error) : NULL;
    if (json_is_array(array)) return array; /* which replaces the object, and is refused as such */
    json_decref(array);
    char *why;
    json_t *given = sim_parse_as(w->request->body, list ? JSON_ARRAY : JSON_OBJECT,
                                 !list    ? MAP_TYPE
                                 : unread ? "jsonpatch.Patch"
                                          : "[]handlers.jsonPatchOp",
                                 &why),
           *operation;
    size_t i;
    json_array_foreach (given, i, operation)
        if (!why && !json_is_object(operation))
            why = xasprintf("json: cannot unmarshal %s into Go value of type %s", sim_json_type(operation),
                            unread ? "jsonpatch.Operation" : "handlers.jsonPatchOp");
    json_t *refusal = NULL;
    if (why && !(unread && body == merged))
        refusal = sim_status_bad_request(
            "%s%s", body == merged_by_key || unread ? "" : "error decoding patch: ", why);
    else if ((why || json_is_null(given)) && body == merged)
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
    return sim_has_type(request, "application/merge-patch+json") ||
           sim_has_type(request, "application/json-patch+json") || sim_has_type(request, APPLY) ||
           (!kind->custom && sim_has_type(request, STRATEGIC));
}

bool sim_patch_has_type(const struct writing *w)
{
    bool known = is_patch_type(w->request, w->target->served->kind);
    if (!known) refuse_type(w);
    return known;
}

void sim_patch_one(struct writing *w, const char *key)
{
    bool strategic = !w->target->served->kind->custom; /* those have no merge keys */
    sim_body_fn *body = sim_has_type(w->request, "application/merge-patch+json")  ? merged
                        : sim_has_type(w->request, "application/json-patch+json") ? patched
                        : strategic && sim_has_type(w->request, STRATEGIC)        ? merged_by_key
                                                                                  : NULL;
    if (!body && sim_has_type(w->request, APPLY)) {
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
    sim_write_changed(w, key, sim_body_patched, &typed, false);
    json_decref(given);
}

json_t *sim_write_options_of(const struct sim_request *request, const struct sim_kind *kind)
{
    if (strcmp(request->method, "POST") == 0) return sim_write_options_refused(request, SIM_WRITE_CREATE);
    if (strcmp(request->method, "PUT") == 0) return sim_write_options_refused(request, SIM_WRITE_UPDATE);
    if (strcmp(request->method, "PATCH") != 0 || !is_patch_type(request, kind)) return NULL;
    return sim_write_options_refused(request,
                                     sim_has_type(request, APPLY) ? SIM_WRITE_APPLY : SIM_WRITE_PATCH);
}
