/* Generated pods of about 9.4 KB that look like those of a busy cluster. The same number is the same pod at
 * every start, with the same uid and resourceVersion. Owner: new objects belong to the caller; a generator
 * may be used by one thread at a time. */
#pragma once
#include "base/buf.h"
#include "sim/store/store.h"

enum {
    SIM_PODS_MAX = 10000000, /* about 100 GB in the replay source */
    SIM_POD_NAMESPACES = 200,
    SIM_POD_NODES = 300,
    SIM_POD_REPLICAS = 3, /* what is usual */
};

struct sim_pods;

/* `replicas` pods share a workload; it decides how much two pods have in common. */
struct sim_pods *sim_pods_new(size_t count, size_t replicas);
void sim_pods_free(struct sim_pods *pods);
/* Appends the text of pod number `i`, as stored; from `count` on they are new pods of the same workloads. */
void sim_pods_text(struct sim_pods *pods, size_t i, struct buf *out);
/* Appends the text of a new pod. */
void sim_pods_next(struct sim_pods *pods, struct buf *out);
/* Puts all pods into an empty store. */
void sim_pods_load(struct sim_pods *pods, struct sim_store *store);
