/* The simulator without HTTP; see inside.h. */
#include "sim/api/inside.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "sim/api/route.h"
#include "sim/object/status.h"
#include "sim/store/cluster.h"
#include "sim/store/fault.h"
#include "sim/store/load.h"
#include "sim/store/reaper.h"
#include "sim/store/target.h"
#include "sim/text/tree.h"

enum { QUERY_MAX = 32, READ = 64 << 10, TERMINATE_MS = 1000, BOOKMARK_MS = 60000 };

struct sim_inside {
    struct sim_api api;
    struct sim_reaper *reaper;
};

struct sim_inside *sim_inside_new(struct loop *loop)
{
    struct sim_inside *inside = NEW(struct sim_inside);
    struct sim_api *api = &inside->api;
    api->clock = loop_clock(loop);
    api->store = sim_store_new(
        &(struct sim_store_options){.first_version = (uint64_t)clock_wall_us(loop_clock(loop))});
    api->settings.watch_cache = true;
    api->settings.bookmark_ms = BOOKMARK_MS;
    api->settings.terminate_ms = TERMINATE_MS;
    api->faults = sim_faults_new();
    inside->reaper = sim_reaper_new(loop, api);
    sim_load_namespaces(api->store, 0);
    return inside;
}

void sim_inside_free(struct sim_inside *inside)
{
    if (!inside) return;
    sim_reaper_free(inside->reaper);
    sim_faults_free(inside->api.faults);
    sim_store_free(inside->api.store);
    free(inside);
}

/* --- requests */

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* In place. */
static void unescape(char *text, bool plus)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        bool escaped = *from == '%' && hex(from[1]) >= 0 && hex(from[2]) >= 0;
        *to++ = (char)(escaped ? hex(from[1]) * 16 + hex(from[2]) : plus && *from == '+' ? ' ' : *from);
        if (escaped) from += 2;
    }
    *to = '\0';
}

/* Request in the form of sim_route, with the strings that it points at. */
struct split {
    struct sim_request request;
    struct sim_param params[QUERY_MAX], agent;
    char *text;
};

static void split(const struct sim_inside_request *from, struct split *to)
{
    *to = (struct split){.text = xstrdup(from->target), .request.has_nul = strstr(from->target, "%00")};
    char *query = strchr(to->text, '?'), *part;
    if (query) *query++ = '\0';
    while (query && (part = strsep(&query, "&"))) {
        char *value = strchr(part, '=');
        if (value) *value++ = '\0';
        if (!*part || to->request.query_count == QUERY_MAX) continue;
        unescape(part, true);
        if (value) unescape(value, true);
        to->params[to->request.query_count++] = (struct sim_param){part, value ? value : ""};
    }
    unescape(to->text, false);
    to->request.method = from->method;
    to->request.path = to->text;
    to->request.query = to->params;
    to->request.accept = from->accept ? from->accept : "";
    to->request.content_type = from->content_type ? from->content_type : "";
    to->agent = (struct sim_param){"User-Agent", from->agent ? from->agent : "kubelua"};
    to->request.headers = &to->agent;
    to->request.header_count = 1;
    to->request.body = from->body;
    to->request.fd = -1;
    to->request.polled = true;
}

void sim_inside_about(struct sim_inside *inside, const struct sim_inside_request *request,
                      struct sim_inside_about *about)
{
    struct split parts;
    struct sim_target target;
    split(request, &parts);
    *about = (struct sim_inside_about){.verb = ""};
    if (sim_target_parse(inside->api.store, parts.request.path, &target)) {
        const char *dry_run = sim_query(&parts.request, "dryRun");
        *about = (struct sim_inside_about){
            .verb = sim_verb_of(&parts.request, target.name),
            .kind = target.served->kind->kind,
            .api_version = target.served->api_version,
            .qualified = sim_qualified_resource(target.served->kind),
            .namespace_ = target.namespace_,
            .name = target.name,
            .subresource = target.subresource,
            .dry_run = dry_run && *dry_run,
        };
        about->resource = about->qualified;
        target.namespace_ = target.name = target.subresource = NULL;
    }
    sim_target_clear(&target);
    free(parts.text);
}

void sim_inside_about_clear(struct sim_inside_about *about)
{
    free(about->namespace_);
    free(about->name);
    free(about->subresource);
    free(about->qualified);
    *about = (struct sim_inside_about){.verb = ""};
}

bool sim_inside_remove(struct sim_inside *inside, const char *path)
{
    struct sim_target target;
    bool there = false;
    if (sim_target_parse(inside->api.store, path, &target) && target.name) {
        char *key = sim_target_key(&target, target.name);
        sim_store_lock(inside->api.store);
        there = sim_store_remove(inside->api.store, target.served->resource, key);
        sim_store_unlock(inside->api.store);
        free(key);
    }
    sim_target_clear(&target);
    return there;
}

static void take(struct sim_reply *reply, struct sim_inside_response *response)
{
    ssize_t n = 1;
    response->code = reply->code;
    response->retry_after_s = reply->retry_after_s;
    response->content_type = reply->content_type ? reply->content_type : "application/json";
    if (reply->json) sim_put_json(&response->body, reply->json);
    buf_str(&response->body, buf_slice(&reply->text));
    if (reply->live) {
        response->stream = reply->stream;
        reply->stream = NULL;
    }
    while (reply->stream && n > 0) {
        n = reply->stream->read(reply->stream, buf_reserve(&response->body, READ), READ);
        if (n > 0) response->body.len += (size_t)n;
    }
}

void sim_inside_serve(struct sim_inside *inside, const struct sim_inside_request *request,
                      struct sim_inside_response *response)
{
    struct split parts;
    struct sim_reply reply = {0};
    split(request, &parts);
    sim_route(&inside->api, &parts.request, &reply);
    take(&reply, response);
    sim_reply_clear(&reply);
    free(parts.text);
}

void sim_inside_refuse(int code, const char *reason, const char *message, int retry_after_s,
                       struct sim_inside_response *response)
{
    struct sim_reply reply = {0};
    json_t *status =
        reason || message ? sim_status(code, reason, message, NULL, NULL) : sim_status_generic(code);
    if (retry_after_s > 0)
        json_object_set_new(sim_submap(status, "details"), "retryAfterSeconds", json_integer(retry_after_s));
    sim_reply_status(&reply, status);
    take(&reply, response);
    sim_reply_clear(&reply);
}

void sim_inside_response_clear(struct sim_inside_response *response)
{
    buf_clear(&response->body);
    if (response->stream) sim_inside_close(response->stream);
    *response = (struct sim_inside_response){0};
}

/* --- watches */

bool sim_inside_read(struct sim_stream *stream, struct buf *out)
{
    for (;;) {
        ssize_t n = stream->read(stream, buf_reserve(out, READ), READ);
        if (n <= 0) return n == SIM_STREAM_LATER;
        out->len += (size_t)n;
    }
}

void sim_inside_close(struct sim_stream *stream)
{
    stream->free(stream);
}

bool sim_inside_end_watches(struct sim_inside *inside, const char *resource, bool expire, struct err *err)
{
    struct sim_store *store = inside->api.store;
    sim_store_lock(store);
    struct sim_served *served = *resource ? sim_store_lookup(store, resource) : NULL;
    bool ok = served || !*resource;
    struct sim_resource *which = served ? served->resource : NULL;
    if (ok && expire) sim_store_expire(store, which);
    if (ok && !expire) sim_store_end_watches(store, which);
    sim_store_unlock(store);
    return ok || err_set(err, ERR_NOT_FOUND, "no kind \"%s\"", resource);
}

void sim_inside_add_kind(struct sim_inside *inside, const char *group, const char *version,
                         const char *plural, const char *name, bool namespaced)
{
    struct sim_store *store = inside->api.store;
    sim_store_lock(store);
    if (!sim_store_find(store, group, version, plural)) {
        json_t *names = json_pack("{ss ss}", "kind", name, "plural", plural);
        struct sim_kind *kind = sim_kind_new(group, version, names);
        kind->namespaced = namespaced;
        kind->has_status = true;
        kind->custom = true;
        sim_store_serve(store, &kind, 1);
        json_decref(names);
    }
    sim_store_unlock(store);
}

bool sim_inside_put(struct sim_inside *inside, struct str json, struct err *err)
{
    return sim_load_text(&inside->api, json, err);
}
