/* A cluster without sockets; see cluster.h. */
#include "core/sim/support/cluster.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/api/route.h"
#include "sim/store/cluster.h"
#include "sim/store/fault.h"

enum { FIRST_VERSION_HIGH = 1000000, PARAMS_MAX = 16 };

void sim_cluster_init(struct sim_cluster *cluster, size_t history_events)
{
    struct sim_store_options options = {.first_version = FIRST_VERSION_HIGH * 1000000000ULL,
                                        .history_events = history_events};
    *cluster = (struct sim_cluster){.api.store = sim_store_new(&options)};
    cluster->api.faults = sim_faults_new();
    cluster->api.settings.watch_cache = true;
    cluster->api.settings.bookmark_ms = 60000;
    sim_load_namespaces(cluster->api.store, 0);
}

void sim_cluster_clear(struct sim_cluster *cluster)
{
    sim_faults_free(cluster->api.faults);
    sim_store_free(cluster->api.store);
}

static size_t split_query(char *query, struct sim_param *params)
{
    size_t n = 0;
    char *one;
    while (query && *query && (one = strsep(&query, "&"))) {
        char *value = strchr(one, '=');
        if (value) *value++ = '\0';
        params[n++] = (struct sim_param){one, value ? value : ""};
    }
    return n;
}

void sim_cluster_call(struct sim_cluster *cluster, const char *request, const char *content_type,
                      const char *body, struct sim_reply *reply)
{
    char *copy = xstrdup(request), *path = strchr(copy, ' '), *query = strchr(copy, '?');
    struct sim_param params[PARAMS_MAX];
    *path++ = '\0';
    if (query) *query++ = '\0';
    struct sim_request call = {.method = copy,
                               .path = path,
                               .query = params,
                               .query_count = split_query(query, params),
                               .accept = cluster->accept ? cluster->accept : "",
                               .content_type = content_type,
                               .body = str_of(body ? body : ""),
                               .fd = cluster->fd ? cluster->fd : -1};
    *reply = (struct sim_reply){0};
    sim_route(&cluster->api, &call, reply);
    free(copy);
}

json_t *sim_cluster_json(struct sim_cluster *cluster, const char *request, const char *body, int code)
{
    struct sim_reply reply;
    ssize_t end = SIM_STREAM_END;
    sim_cluster_call(cluster, request, "application/json", body, &reply);
    assert_int_equal(reply.code, code);
    char *text = reply.stream ? sim_cluster_read(reply.stream, 4096, SIZE_MAX, &end)
                              : xstrndup(reply.text.len ? reply.text.data : "", reply.text.len);
    json_t *result = reply.json ? json_incref(reply.json) : json_loads(text, 0, NULL);
    assert_int_equal(end, SIM_STREAM_END);
    assert_non_null(result);
    free(text);
    sim_reply_clear(&reply);
    return result;
}

void sim_cluster_make(struct sim_cluster *cluster, const char *name)
{
    char *body =
        xasprintf("{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"%s\"}}", name);
    json_decref(sim_cluster_json(cluster, "POST /api/v1/namespaces/default/configmaps", body, 201));
    free(body);
}

char *sim_cluster_read(struct sim_stream *stream, size_t room, size_t max, ssize_t *end)
{
    struct buf text = {0};
    ssize_t n = 0;
    while (text.len < max) {
        n = stream->read(stream, buf_reserve(&text, room), room);
        if (n < 0) break;
        assert_true(n > 0 && (size_t)n <= room);
        text.len += (size_t)n;
    }
    *end = n < 0 ? n : 0;
    return buf_take(&text);
}
