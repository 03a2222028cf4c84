/* Configuration of a pod: environment and service account files (T-10, T-11, C-10). Owner: as in
 * kubeconfig.h. Reads files: not from callbacks. */
#pragma once
#include "kube/config/kubeconfig.h"

#define SERVICE_ACCOUNT_DIR "/var/run/secrets/kubernetes.io/serviceaccount"

/* Returns whether both variables are set and the token is a file. `dir` NULL: the usual directory. */
bool in_cluster_possible(const char *dir);
/* Returns whether only a part of a pod's configuration exists; then `err` names the missing part. */
bool in_cluster_almost(const char *dir, struct err *err);
/* Fills everything but the namespace. */
bool in_cluster_load(const char *dir, struct cluster_config *out, struct err *err);
/* Returns POD_NAMESPACE, else the file's namespace, else "default"; the caller frees it. */
char *in_cluster_namespace(const char *dir);
