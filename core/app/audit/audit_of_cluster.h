/* Audits of a cluster: caches are filled with the kinds that rules use, and every object of those that rules
 * look at is looked at, there or as it is listed. Owner: the command, on the main thread. */
#pragma once
#include "app/audit/audit_request.h"
#include "kube/config/kubeconfig.h"

/* A kind that the server does not let us read, that is not here after --sync-timeout, or that no server can
 * have, is reported on stderr and makes the audit incomplete; rules that use it are not evaluated. One that
 * this server happens not to have is told, and has no objects. */
enum audit_end audit_of_cluster(const struct audit_request *request, const struct cluster_config *cluster,
                                struct audit_table *table, struct err *err);
