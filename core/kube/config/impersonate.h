/* Acting as somebody else: the headers of T-9.
 * Owner: as kubeconfig.h says. */
#pragma once
#include "kube/config/kubeconfig.h"
#include "kube/config/kubeconfig_file.h"

/* Fills `out->impersonate`; nothing when the user does not ask for it. */
void impersonate_headers(const struct kubeconfig_user *user, struct cluster_config *out);
