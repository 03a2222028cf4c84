/* Start and stop of the simulated API server; see server.h. */
#include "sim/api/server.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "sim/access/access.h"
#include "sim/api/http.h"
#include "sim/api/route.h"
#include "sim/scenario/director.h"
#include "sim/scenario/pods.h"
#include "sim/store/api.h"
#include "sim/store/cluster.h"
#include "sim/store/fault.h"
#include "sim/store/load.h"
#include "sim/store/reaper.h"
#include "sim/store/saver.h"
#include "sim/store/state.h"

enum { TERMINATE_MS = 1000 };

struct sim_server {
    struct sim_api api;
    struct sim_reaper *reaper;
    struct sim_saver *saver; /* NULL: nothing is kept */
    bool is_kept;            /* the objects came from the state */
    struct sim_http *http;
    struct sim_pods *pods;
    struct sim_scenario *scenario; /* until it begins */
};

static void serve(void *ctx, const struct sim_request *request, struct sim_reply *reply)
{
    struct sim_server *server = ctx;
    sim_route(&server->api, request, reply);
}

/* Loads the objects of a new server. */
static bool load_fresh(struct sim_server *server, const struct sim_server_options *options, struct err *err)
{
    struct sim_store *store = server->api.store;
    sim_load_namespaces(store, options->pods ? SIM_POD_NAMESPACES : 0);
    if (options->rbac && !sim_load_text(&server->api, str_of(sim_access_policy[0].text), err)) return false;
    if (options->pods) {
        sim_pods_load(server->pods, store);
        sim_load_nodes(store, SIM_POD_NODES);
    }
    for (size_t i = 0; i < options->load_count; i++)
        if (!sim_load_file(&server->api, options->load[i], err)) return false;
    return true;
}

static bool load(struct sim_server *server, const struct sim_server_options *options, struct err *err)
{
    server->pods = sim_pods_new(options->pods, options->replicas);
    if (options->state && !sim_state_read(&server->api, options->state, &server->is_kept, err)) return false;
    if (!server->is_kept && !load_fresh(server, options, err)) return false;
    if (server->is_kept && (options->load_count || options->pods))
        log_info("Took the objects of the state, and none of --load and --pods", F("state", options->state));
    if (options->script && !(server->scenario = sim_scenario_load(options->script, err))) return false;
    return true;
}

static void set_up(struct sim_server *server, struct loop *loop, const struct sim_server_options *options)
{
    struct sim_api *api = &server->api;
    const struct sim_life *life = options->life;
    api->life = life;
    api->clock = life ? life->clock : NULL;
    api->store = sim_store_new(&(struct sim_store_options){.first_version = life ? life->first_version : 0});
    api->settings.watch_cache = options->watch_cache;
    api->settings.gzip = options->gzip;
    api->settings.sharding = options->sharding;
    api->settings.bookmark_ms = options->bookmark_ms;
    api->settings.terminate_ms = TERMINATE_MS;
    api->list_parts = options->list_parts;
    api->faults = sim_faults_new();
    if (!life) server->reaper = sim_reaper_new(loop, api);
}

static void refuse(void *ctx, int64_t ms)
{
    struct sim_server *server = ctx;
    sim_http_refuse(server->http, ms);
}

struct sim_server *sim_server_new(struct loop *loop, const struct sim_server_options *options,
                                  struct err *err)
{
    struct sim_server *server = NEW(struct sim_server);
    const struct sim_http_options http = {
        .listen = options->listen, .port = options->port, .tls = options->tls, .serve = serve, .ctx = server};
    set_up(server, loop, options);
    const struct sim_access_options access = {.token_file = options->token_file, .rbac = options->rbac};
    server->api.access = sim_access_new(&server->api, &access, err);
    server->api.checks_loads = true;
    if (server->api.access && load(server, options, err)) {
        server->api.director = sim_director_new(&server->api, server->pods, refuse, server);
        server->http = sim_http_new(loop, &server->api, &http, err);
    }
    if (server->http && options->state)
        server->saver = sim_saver_new(loop, server->api.store, options->state, server->is_kept);
    if (server->http) return server;
    sim_server_free(server);
    return NULL;
}

bool sim_server_begin(struct sim_server *server, struct err *err)
{
    struct sim_scenario *scenario = server->scenario;
    server->scenario = NULL;
    return !scenario || sim_director_run(server->api.director, scenario, err);
}

struct sim_api *sim_server_api(struct sim_server *server)
{
    return &server->api;
}

int sim_server_port(const struct sim_server *server)
{
    return sim_http_port(server->http);
}

const char *sim_server_token(const struct sim_server *server)
{
    return sim_access_token(server->api.access, sim_http_authority(server->http));
}

const char *sim_server_authority(const struct sim_server *server)
{
    return sim_http_authority(server->http);
}

void sim_server_free(struct sim_server *server)
{
    if (!server) return;
    sim_store_lock(server->api.store);
    sim_store_stop(server->api.store);
    sim_store_unlock(server->api.store);
    if (server->api.director) sim_director_stop(server->api.director);
    sim_http_free(server->http);
    sim_director_free(server->api.director);
    sim_saver_free(server->saver);
    sim_reaper_free(server->reaper);
    sim_faults_free(server->api.faults);
    sim_scenario_free(server->scenario);
    sim_pods_free(server->pods);
    sim_access_free(server->api.access);
    sim_store_free(server->api.store);
    free(server);
}
