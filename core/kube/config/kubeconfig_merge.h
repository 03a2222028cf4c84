/* Chosen entries of kubeconfig files and the flags over them (C-6), checked (C-8) and read in: an unusable
 * setting is reported here, with its file and field, not at the first request. Owner: as in kubeconfig.h.
 * Reads files: not from callbacks. */
#pragma once
#include "kube/config/kubeconfig.h"
#include "kube/config/kubeconfig_file.h"

/* Each may be NULL. */
struct chosen {
    const struct kubeconfig_entry *context, *cluster, *user;
};

/* Fills all of `out` but the namespace. */
bool kubeconfig_merge(const struct cluster_flags *flags, const struct chosen *chosen,
                      struct cluster_config *out, struct err *err);
/* Puts the flags over a complete configuration, that of a pod (C-10). */
bool kubeconfig_override(const struct cluster_flags *flags, struct cluster_config *out, struct err *err);
