/* Dispatch by path and verb; see route.h. */
#include "sim/api/route.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/access/access.h"
#include "sim/api/control.h"
#include "sim/api/discovery.h"
#include "sim/api/encode.h"
#include "sim/api/list.h"
#include "sim/api/openapi.h"
#include "sim/api/paths.h"
#include "sim/api/subresource.h"
#include "sim/api/watch.h"
#include "sim/api/write_request.h"
#include "sim/lua/lua.h"
#include "sim/object/status.h"
#include "sim/store/fault.h"
#include "sim/store/params.h"
#include "sim/store/target.h"
#include "sim/text/names.h"
#include "sim/validate/scalars.h"

/* Refuses a form in which there is no watch. */
static json_t *watch_refused(const struct sim_request *request, const struct sim_kind *kind,
                             const struct sim_list_options *options)
{
    struct sim_media media = sim_negotiate_of(kind, request->accept);
    if (media.yaml) return sim_status_not_acceptable(true);
    return media.form == SIM_FORM_TABLE ? sim_table_refused(options->include_object) : NULL;
}

static void read_objects(struct sim_api *api, const struct sim_request *request,
                         const struct sim_target *target, struct sim_faulty *faulty, struct sim_reply *reply)
{
    struct sim_list_options options;
    json_t *refusal;
    if (target->name) {
        sim_get(api, request, target, reply);
        return;
    }
    if (!sim_list_options_read(request, target->served->kind, api->settings.sharding, &options, &refusal))
        sim_reply_status(reply, refusal);
    else if (options.watch && (refusal = watch_refused(request, target->served->kind, &options)))
        sim_reply_status(reply, refusal);
    else if (options.watch)
        sim_watch(api, request, target, &options, faulty, reply);
    else
        sim_list(api, request, target, &options, &faulty->actions, reply);
    sim_list_options_clear(&options);
}

/* Does the subresource take requests of this method? */
static bool takes(const struct sim_kind *kind, const char *subresource, const struct sim_request *request)
{
    const struct schema_subresource *sub = schema_subresource(kind->schema, subresource);
    const char *verb = sim_verb_of(request, true);
    for (const char *const *own = sub ? sub->verbs : NULL; own && *own; own++)
        if (strcmp(*own, verb) == 0) return true;
    return !sub;
}

/* Refuses what cannot be replied with, as a server does before it looks at anything else. */
static bool has_form(const struct sim_request *request, const struct sim_target *target,
                     struct sim_reply *reply)
{
    const struct sim_kind *kind = target->served->kind;
    bool lists = !target->name && strcmp(request->method, "GET") == 0;
    if (!kind->custom && !sim_is_routed(request->accept)) {
        sim_reply_not_acceptable(reply, lists);
        return false;
    }
    struct sim_media media = sim_negotiate_of(kind, request->accept);
    if (media.form != SIM_FORM_UNACCEPTABLE) return true;
    sim_reply_status(reply, sim_status_not_acceptable(false));
    return false;
}

/* Of what a server has no handler for, it has no warning; that of custom kinds is for all of their paths. */
static void warn_of(const struct sim_request *request, const struct sim_target *target,
                    struct sim_reply *reply)
{
    const struct sim_kind *kind = target->served->kind;
    bool served = !target->subresource || sim_has_subresource(kind, target->subresource);
    bool handled = kind->custom || (served && sim_is_routed(request->accept));
    bool refused = reply->code == 405 || (reply->code == 415 && strcmp(request->method, "POST") != 0);
    if (!kind->deprecation || !handled || refused) return;
    if (!reply->warnings) reply->warnings = json_array();
    json_array_insert_new(reply->warnings, 0, json_string(kind->deprecation));
}

static void objects(struct sim_api *api, const struct sim_request *request, const struct sim_target *target,
                    struct sim_reply *reply)
{
    struct sim_faulty faulty = {0};
    STAILQ_INIT(&faulty.actions);
    struct buf problem = {0};
    const struct sim_kind *kind = target->served->kind;
    bool unknown = target->subresource && !sim_has_subresource(kind, target->subresource);
    bool reads_log = target->subresource && strcmp(target->subresource, "log") == 0 &&
                     strcmp(request->method, "GET") == 0 && !unknown;
    if (reads_log && !sim_log_takes(request, target, reply))
        ; /* that was it */
    else if (target->subresource && sim_life_serves(api, request, target, reply))
        ; /* that was it */
    else if (unknown && kind->custom)
        sim_reply_status(reply, sim_status_not_found(kind, target->name));
    else if (unknown)
        sim_reply_not_found(reply);
    else if (!takes(kind, target->subresource, request))
        sim_reply_not_allowed(reply);
    else if (!(target->subresource && sim_is_kubelets(target->subresource)) &&
             !has_form(request, target, reply))
        ; /* that was it */
    else if (target->name && !sim_check_segment(str_of(target->name), &problem))
        sim_reply_status(reply, sim_status_bad_request("Name parameter invalid: \"%s\": %s", target->name,
                                                       buf_text(&problem)));
    else if (sim_faults_apply(api, request, sim_verb_of(request, target->name), target, &faulty, reply))
        ; /* that was it */
    else if (strcmp(request->method, "GET") == 0 ||
             (target->subresource && sim_is_kubelets(target->subresource)))
        read_objects(api, request, target, &faulty, reply);
    else
        sim_write_request(api, request, target, reply);
    warn_of(request, target, reply);
    buf_clear(&problem);
    sim_actions_clear(&faulty.actions);
}

/* The list of the resources of a version: a server has it of definitions for any method. */
static bool is_of_definitions(struct sim_api *api, const json_t *list)
{
    const char *name = json_string_value(json_object_get(list, "groupVersion"));
    bool found = false;
    sim_store_lock(api->store);
    for (size_t i = 0; name && i < api->store->served_count && !found; i++)
        found = api->store->kinds[i]->custom && strcmp(api->store->served[i]->api_version, name) == 0;
    sim_store_unlock(api->store);
    return found;
}

static bool discovery(struct sim_api *api, const struct sim_request *request, struct sim_reply *reply)
{
    sim_store_lock(api->store);
    reply->json = sim_discovery(request->path, request->accept, sim_header(request, "Host"),
                                api->store->kinds, api->store->served_count, &reply->content_type);
    sim_store_unlock(api->store);
    if (!reply->json) return false;
    reply->code = 200;
    if (strcmp(request->method, "GET") == 0 || is_of_definitions(api, reply->json)) return true;
    json_decref(reply->json);
    sim_reply_not_allowed(reply);
    return true;
}

/* Responds 404: a Status below what is served, a line of text everywhere else. */
static void not_found(struct sim_api *api, const struct sim_request *request, struct sim_reply *reply)
{
    if (sim_target_is_known(api->store, request->path)) {
        sim_reply_not_found(reply);
        return;
    }
    sim_reply_no_page(reply);
}

/* Paths that name no resource with objects. */
static void others(struct sim_api *api, const struct sim_request *request, struct sim_reply *reply)
{
    struct sim_faulty faulty = {0};
    struct sim_target target;
    STAILQ_INIT(&faulty.actions);
    if (sim_faults_apply(api, request, sim_verb_of(request, true), NULL, &faulty, reply)) return;
    if (sim_target_parse_unstored(api->store, request->path, &target)) {
        if (strcmp(request->method, "POST") != 0)
            sim_reply_not_allowed(reply);
        else if (has_form(request, &target, reply))
            sim_write_request(api, request, &target, reply);
        sim_target_clear(&target);
        return;
    }
    sim_target_clear(&target);
    if (!sim_paths(api, request, reply) && !sim_openapi(api, request, reply) &&
        !discovery(api, request, reply))
        not_found(api, request, reply);
}

static void dispatch(struct sim_api *api, const struct sim_request *request, struct sim_reply *reply)
{
    struct sim_target target;
    struct sim_request get = *request;
    get.method = "GET";
    if (sim_target_parse(api->store, request->path, &target)) {
        /* A server does that for custom kinds only. */
        bool is_head = target.served->kind->custom && strcmp(request->method, "HEAD") == 0;
        objects(api, is_head ? &get : request, &target, reply);
    } else
        others(api, request, reply);
    sim_target_clear(&target);
}

/* Reads and writes JSON inside, whatever the client speaks. */
static void translate(struct sim_api *api, const struct sim_request *request, const json_t *user,
                      struct sim_reply *reply)
{
    struct buf json = {0};
    struct sim_request known = *request;
    known.user = user;
    if (sim_encode_request(&known, &json, reply)) dispatch(api, &known, reply);
    buf_clear(&json);
}

static void admit(struct sim_api *api, const struct sim_request *request, struct sim_reply *reply)
{
    json_t *user = sim_access_identify(api->access, request, reply);
    if (user && sim_access_admit(api->access, request, user, reply)) translate(api, request, user, reply);
    json_decref(user);
}

/* Only a GET is served at an old path of a watch; others are refused where they would be found. */
static void admit_watched(struct sim_api *api, const struct sim_watched *watched, struct sim_reply *reply)
{
    struct sim_target target;
    bool found = sim_target_parse(api->store, watched->request.path, &target);
    bool is_get = strcmp(watched->request.method, "GET") == 0;
    sim_target_clear(&target);
    if (!found)
        sim_reply_not_found(reply);
    else if (!is_get)
        sim_reply_not_allowed(reply);
    else if (api->access)
        admit(api, &watched->request, reply);
    else
        translate(api, &watched->request, NULL, reply);
}

/* How long a request may take is read before anything else, but not of one that lasts. */
static bool has_bad_timeout(const struct sim_request *request, struct sim_reply *reply)
{
    const char *text = sim_query(request, "timeout"), *method = request->method;
    char *problem = text && *text ? sim_check_duration(text) : NULL;
    if (!problem) return false;
    lua_State *L = sim_lua_take("sim.access", "lasts");
    lua_pushstring(L, request->path);
    lua_pushboolean(L, (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0) &&
                           sim_query_true(request, "watch"));
    bool bad = !sim_lua_is(L);
    if (bad)
        sim_reply_status(
            reply, sim_status_bad_request("invalid timeout specified in the request URL - %s", problem));
    free(problem);
    return bad;
}

void sim_route(struct sim_api *api, const struct sim_request *request, struct sim_reply *reply)
{
    if (request->has_nul) {
        sim_reply_status(reply, sim_status_bad_request("the path and the query must not contain a NUL byte"));
        return;
    }
    struct sim_watched watched;
    sim_lua_take_failure(); /* of what was before */
    if (sim_control(api, request, reply)) return;
    if (sim_watched_begin(request, &watched))
        admit_watched(api, &watched, reply);
    else if (has_bad_timeout(request, reply))
        ; /* refused */
    else if (api->access)
        admit(api, request, reply);
    else
        translate(api, request, NULL, reply);
    sim_encode_reply(&watched.request, reply);
    if (sim_lua_take_failure() && reply->code > 0 && reply->code < 500) { /* what it says is of no worth */
        sim_reply_clear(reply);
        sim_reply_status(reply, sim_status_said(NULL, NULL, NULL));
        sim_encode_reply(&watched.request, reply);
    }
    sim_watched_clear(&watched);
}
