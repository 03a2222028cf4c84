/* The cluster of a test: the simulator in this process, as the server that the engine's own client talks to.
 * Owner: the test's engine; everything is on its one thread. The observer is called from inside the loop, and
 * may not call back. */
#pragma once
#include "kube/api/client.h"
#include "sim/api/inside.h"

struct spec_cluster;

struct spec_cluster_options {
    struct loop *loop;
    /* A request that wants a change, and what became of it. All is borrowed for the call. NULL:
     * not called. */
    void (*written)(void *ctx, const struct sim_inside_about *about, const struct sim_inside_request *request,
                    const struct sim_inside_response *response);
    void *ctx;
};

/* Fault of a request. NULL and 0 match everything, and leave out what they stand for. Strings are copied. */
struct spec_fault {
    int id;           /* the test's name for it */
    const char *verb; /* "patch", ..., or "apply": the patches that are server-side applies */
    const char *resource, *namespace_, *name, *subresource; /* "deployments.apps", ... */
    int code;                                               /* 0: the request goes well */
    const char *reason, *message;
    int retry_after_s;
    int64_t delay_ms; /* before the response, after the effect of the request */
    int skip, times;  /* 0 times: until faults are cleared */
};

/* Answer of the cluster to a GET of a path, instead of its own response: that of servers behind it, such
 * as a kubelet or that of metrics.k8s.io. Strings are copied; the newest that matches counts. */
struct spec_answer {
    const char *path;
    bool is_log;           /* of the container and the run that the query names, cut by tailLines */
    const char *container; /* of a log; NULL: any */
    bool is_previous;
    int code;
    bool is_json;
    struct str body;
};

struct spec_cluster *spec_cluster_new(const struct spec_cluster_options *options);
/* Frees it. Call after the client was freed. */
void spec_cluster_free(struct spec_cluster *cluster);
/* Fills the settings of a client of the cluster: both structs, of which the options borrow the config.
 * `server` is a host that messages name; borrowed. */
void test_cluster_connect(struct spec_cluster *cluster, char *server, struct cluster_config *config,
                          struct kube_client_options *client);
/* Returns the store, for changes that bypass all faults and observers. */
struct sim_inside *spec_cluster_inside(struct spec_cluster *cluster);
/* Delivers to watches what is due; returns true if one got anything. */
bool spec_cluster_pump(struct spec_cluster *cluster);
void spec_cluster_add_fault(struct spec_cluster *cluster, const struct spec_fault *fault);
/* Returns whether the fault exists and no request met it. */
bool spec_cluster_has_unmet(const struct spec_cluster *cluster, int id);
void spec_cluster_answer(struct spec_cluster *cluster, const struct spec_answer *answer);
void spec_cluster_clear_faults(struct spec_cluster *cluster);
