/* Start and stop of the simulated API server; see server.h. */
#include "sim/server.h"

#include <stdlib.h>

#include "base/mem.h"
#include "sim/api.h"
#include "sim/cluster.h"
#include "sim/http.h"
#include "sim/pods.h"
#include "sim/reaper.h"
#include "sim/route.h"

enum { TERMINATE_MS = 1000 };

struct sim_server {
    struct sim_api api;
    struct sim_reaper *reaper;
    struct sim_http *http;
    struct sim_pods *pods;
};

static void serve(void *ctx, const struct sim_request *request, struct sim_reply *reply)
{
    struct sim_server *server = ctx;
    sim_route(&server->api, request, reply);
}

static void terminating(void *ctx, const struct sim_served *served, const struct sim_object *object,
                        int64_t grace_ms)
{
    struct sim_server *server = ctx;
    int64_t most_ms = atomic_load(&server->api.settings.terminate_ms);
    sim_reaper_expect(server->reaper, served, object, grace_ms < most_ms ? grace_ms : most_ms);
}

static void load(struct sim_server *server, const struct sim_server_options *options)
{
    sim_load_namespaces(server->api.store, options->pods ? SIM_POD_NAMESPACES : 0);
    server->pods = sim_pods_new(options->pods, options->replicas);
    if (!options->pods) return;
    sim_pods_load(server->pods, server->api.store);
    sim_load_nodes(server->api.store, SIM_POD_NODES);
}

struct sim_server *sim_server_new(struct loop *loop, const struct sim_server_options *options,
                                  struct err *err)
{
    struct sim_server *server = NEW(struct sim_server);
    server->api.store = sim_store_new(&(struct sim_store_options){0});
    server->api.settings.watch_cache = options->watch_cache;
    server->api.settings.gzip = options->gzip;
    server->api.settings.bookmark_ms = options->bookmark_ms;
    server->api.settings.terminate_ms = TERMINATE_MS;
    server->api.terminating = terminating;
    server->api.ctx = server;
    server->reaper = sim_reaper_new(loop, &server->api);
    load(server, options);
    const struct sim_http_options http = {
        .listen = options->listen, .port = options->port, .serve = serve, .ctx = server};
    server->http = sim_http_new(loop, &server->api, &http, err);
    if (server->http) return server;
    sim_server_free(server);
    return NULL;
}

int sim_server_port(const struct sim_server *server)
{
    return sim_http_port(server->http);
}

void sim_server_free(struct sim_server *server)
{
    if (!server) return;
    sim_store_lock(server->api.store);
    sim_store_stop(server->api.store);
    sim_store_unlock(server->api.store);
    sim_http_free(server->http);
    sim_reaper_free(server->reaper);
    sim_pods_free(server->pods);
    sim_store_free(server->api.store);
    free(server);
}
