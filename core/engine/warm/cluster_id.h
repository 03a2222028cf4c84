/* Identity of a cluster: the uid of its namespace kube-system. Where that may not be read, the server's
 * address together with its certificate authority. Two clusters have different identities, whatever their
 * addresses; a version of one means nothing to the other. Owner: the caller, on the engine thread. */
#pragma once
#include "informer/live/live_client.h"
#include "kube/config/kubeconfig.h"

struct cluster_id;

/* Reads the identity. `done` is called once, not from inside: `id` is "" when the cluster cannot be told from
 * others, and `why` says why. */
struct cluster_id *cluster_id_read(struct live_client *live, const struct cluster_config *config,
                                   void (*done)(void *ctx, const char *id, const char *why), void *ctx);
/* No callback follows. NULL is allowed. */
void cluster_id_free(struct cluster_id *id);
