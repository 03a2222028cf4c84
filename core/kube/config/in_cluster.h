/* The configuration that a pod finds around it: environment and service account files (T-10, T-11, C-10).
 * Owner: as kubeconfig.h says. Reads files: not from callbacks. */
#pragma once
#include "kube/config/kubeconfig.h"

#define SERVICE_ACCOUNT_DIR "/var/run/secrets/kubernetes.io/serviceaccount"

/* Both variables are set and the token is a file. `dir` NULL: the usual one. */
bool in_cluster_possible(const char *dir);
/* Something of a pod is there but not all: `err` tells what is missing. */
bool in_cluster_almost(const char *dir, struct err *err);
/* Everything but the namespace. */
bool in_cluster_load(const char *dir, struct cluster_config *out, struct err *err);
/* POD_NAMESPACE, else the file's, else "default"; the caller frees it. */
char *in_cluster_namespace(const char *dir);
