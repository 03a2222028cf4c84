/* Reports of policies as objects of Kubernetes, which dashboards read: one for each namespace, and one of the
 * cluster for what has none. Two APIs have them in nearly the same form: wgpolicyk8s.io and openreports.io.
 * Owner: all is borrowed. On any one thread. */
#pragma once
#include <stdio.h>

#include "audit/report.h"

struct policy_api {
    const char *api_version, *kind, *cluster_kind;
    const char *const *severities; /* what it calls ours */
    bool filtered;                 /* it can say that passes are counted only */
};

/* A report is cut in parts, "kubelua-audit", "kubelua-audit-2" and so on, as an object may not be larger than
 * what `kubectl apply` notes in an annotation of it. */
#define POLICY_REPORT_NAME "kubelua-audit"
enum { POLICY_REPORT_BYTES = 200 << 10, POLICY_MESSAGE_BYTES = 4 << 10 };

/* Documents of YAML. Passes, and skips without a message, are counted in the summaries and have no results.
 */
void policy_results_write(const struct policy_api *api, const struct audit_table *table,
                          const struct report_options *options, FILE *out);
