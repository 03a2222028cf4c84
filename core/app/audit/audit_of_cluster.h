/* Audits of a cluster: fills caches with the kinds that rules use, and audits every object of matching kinds,
 * from a cache or as it is listed. Owner: the command, on the main thread. */
#pragma once
#include "app/audit/audit_request.h"
#include "kube/config/kubeconfig.h"

/* Runs the audit. A kind that the server does not let us read, that has not synced after --sync-timeout, or
 * that no server can have is reported on stderr and makes the audit incomplete; rules that use it are not
 * evaluated. A kind that only this server lacks is reported, and has no objects. */
enum audit_end audit_of_cluster(const struct audit_request *request, const struct cluster_config *cluster,
                                struct audit_table *table, struct err *err);
