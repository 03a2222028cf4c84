/* Audits of a cluster: caches are filled with the kinds that rules name, and every object in them is looked
 * at. Owner: the command, on the main thread. */
#pragma once
#include "app/audit_request.h"
#include "kube/kubeconfig.h"

/* A kind that the server does not have, or does not let us read, or that is not here after --sync-timeout, is
 * told on stderr, and makes the audit incomplete. */
enum audit_end audit_live(const struct audit_request *request, const struct cluster_config *cluster,
                          struct audit_table *table, struct err *err);
