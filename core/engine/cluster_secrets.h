/* Clusters that come and go by Secrets of the home cluster, each with a kubeconfig (--clusters-from). A
 * Secret that cannot be used is logged by its name, and is of no consequence for others. Owner: the engine,
 * on its thread. */
#pragma once
#include "engine/clusters.h"

struct cluster_secrets;

/* Label that Secrets have, unless `from` has another selector. */
#define CLUSTER_SECRETS_SELECTOR "kubelua.dev/cluster"
/* All clusters that come by Secrets. */
enum { CLUSTER_SECRETS_MAX = 100 };

/* Follows the Secrets of `from`, "NAMESPACE[/SELECTOR]". Returns NULL and sets err if it is neither. The
 * settings are those of the clusters; borrowed. */
struct cluster_secrets *cluster_secrets_new(struct clusters *clusters, const char *from,
                                            const struct engine_settings *settings, struct err *err);
/* The clusters stay, until clusters_end. Before the factory of the home cluster is freed. NULL is allowed. */
void cluster_secrets_free(struct cluster_secrets *secrets);
