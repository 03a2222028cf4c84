/* Requests to one API server: transport, URL base and credentials together.
 * Owner: the I/O thread; all functions belong to it. Responses come by callbacks on that thread, never from
 * inside the call that starts them. */
#pragma once
#include <stdbool.h>

#include "base/err.h"
#include "kube/api/reachability.h"
#include "kube/api/rest_metrics.h"
#include "kube/api/throttled.h"
#include "kube/config/kubeconfig.h"
#include "net/transport.h"
#include "object/pack/pack.h"

struct kube_client;
struct packers;

struct kube_client_options {
    const struct cluster_config *config; /* borrowed for the call */
    const char *cluster;                 /* its name, for the log; copied. NULL: the home cluster */
    size_t max_object_size;              /* bytes of one object's JSON; 0: 8 MiB */
    int64_t request_timeout_ms;          /* --request-timeout (C-13); 0: none */
    double qps;                          /* --kube-api-qps (H-1) */
    int burst;                           /* --kube-api-burst; both 0: no limit */
    struct http_local *local;            /* a server in this process (net/http_local.h); NULL: the network */
    struct packers *packers;             /* borrowed; NULL: everything is packed on the I/O thread */
};

struct kube_client *kube_client_new(struct loop *loop, struct pool *pool,
                                    const struct kube_client_options *options, struct err *err);
void kube_client_free(struct kube_client *client);
struct packer *kube_client_packer(struct kube_client *client);
/* Returns the parser shared by all streams: its tape is valid until the next parse, so only within one
 * callback. */
struct tape_parser *kube_client_parser(struct kube_client *client);
/* NULL: there are none. */
struct packers *kube_client_packers(struct kube_client *client);
size_t kube_client_max_object_size(const struct kube_client *client);
/* Returns the timeout of a request that sets none of its own; 0: none. Not for watches. */
int64_t kube_client_request_timeout_ms(const struct kube_client *client);
struct loop *kube_client_loop(struct kube_client *client);

/* Returns the exec plugin that requests wait for, and since when (wall time); NULL if none runs. From any
 * thread. */
const char *kube_client_plugin_running(const struct kube_client *client, int64_t *since_us);

struct rest_metrics *kube_client_metrics(struct kube_client *client);
/* From any thread. */
struct reachability *kube_client_reachability(const struct kube_client *client);
struct throttled *kube_client_throttled(const struct kube_client *client);

/* Returns how long a request has to wait before its try is sent, in ms; logs a long wait (H-1, H-2). A
 * watch's first try never waits. A caller that stops waiting reports how much of the wait was left. */
int64_t kube_client_throttle(struct kube_client *client, const char *method, const char *path);
void kube_client_unthrottle(struct kube_client *client, int64_t wait_ms);

/* Starts a request for `path` ("/api/v1/pods?limit=500") with Authorization, User-Agent and Accept. */
struct http_exchange *kube_client_start(struct kube_client *client,
                                        const struct http_request *request_with_path, const char *accept,
                                        const struct http_callbacks *callbacks, struct err *err);

/* Fills `err` from an error response to `method`: a Status body wins, else the code decides (H-8); sets
 * too_large_version by R-11. `retry_after_ms` is the header's, -1 without; a Status may tell one too, which
 * asks for no retry (H-3). Returns false. */
bool kube_status_error(struct err *err, const char *method, int http_status, int64_t retry_after_ms,
                       const char *body, size_t len);
/* Likewise for a Status object on a tape (an ERROR event). `http_status` 0: from its code. */
struct tape;
bool kube_status_error_tape(struct err *err, const struct tape *tape, size_t at, int http_status,
                            int64_t retry_after_ms);
/* Expired or gone (R-11, H-9). */
bool kube_err_is_expired(const struct err *err);
/* Returns whether the server reported an internal error. */
bool kube_err_is_internal(const struct err *err);
bool kube_err_is_too_many_requests(const struct err *err);
/* Returns whether no process listens at the address: with the one above, the errors after which R-22 retries
 * without a list. */
bool kube_err_is_connection_refused(const struct err *err);
