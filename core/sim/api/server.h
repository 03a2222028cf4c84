/* Simulated API server: store, HTTP, data, scenario. Owner: its creator. Everything belongs to the loop's
 * thread; requests are served on threads of their own. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "net/loop.h"
#include "sim/store/api.h"
#include "sim/store/shard.h"

struct sim_server;

struct sim_server_options {
    const char *listen;
    int port; /* 0: any */
    size_t pods, replicas;
    const char *const *load; /* files with objects */
    size_t load_count;
    sim_list_parts_fn *list_parts; /* for large files; NULL without */
    const char *state;             /* file that keeps the objects over restarts; NULL without */
    const char *script;            /* a scenario that begins when the server is ready; NULL without */
    const char *token_file;        /* static tokens, as kube-apiserver reads them; NULL without */
    bool rbac;                     /* roles and their bindings decide who may do what */
    bool watch_cache, gzip, tls;
    int64_t bookmark_ms;
    enum sim_sharding sharding;
    const struct sim_life *life; /* NULL without */
};

/* Creates a server, which is ready for requests; NULL with an error. */
struct sim_server *sim_server_new(struct loop *loop, const struct sim_server_options *options,
                                  struct err *err);
/* Begins the scenario of the options; false when one of its first steps fails. */
bool sim_server_begin(struct sim_server *server, struct err *err);
/* For the life beside it. */
struct sim_api *sim_server_api(struct sim_server *server);
int sim_server_port(const struct sim_server *server);
/* Token for the kubeconfig; NULL if clients need none. */
const char *sim_server_token(const struct sim_server *server);
/* The authority that signed its certificate, in PEM; NULL without TLS. */
const char *sim_server_authority(const struct sim_server *server);
/* Ends all streams and connections. */
void sim_server_free(struct sim_server *server);
