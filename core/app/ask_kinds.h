/* Which kinds a server has, for commands that run nothing on it.
 * Owner: the caller frees the catalogue. Blocks: for commands only. */
#pragma once
#include "base/err.h"
#include "kube/kubeconfig.h"
#include "kube/resource.h"

/* NULL with an error when no answer came in time. */
struct catalogue *ask_kinds(const struct cluster_config *cluster, int64_t patience_ms, struct err *err);
/* Whether the flags name a server, and do not leave it to the environment. */
bool names_a_server(const struct cluster_flags *flags);
