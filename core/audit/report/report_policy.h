/* Reports of policies as documents for kubectl: one for each namespace, and one of the cluster for what has
 * none. Owner: all is borrowed. On any one thread. */
#pragma once
#include <stdio.h>

#include "audit/policy/policy_document.h"
#include "audit/report/report.h"

/* Documents of YAML. Passes are counted in the summaries and have no results; skips without a message are
 * not told of. */
void policy_results_write(const struct policy_api *api, const struct audit_table *table,
                          const struct report_options *options, FILE *out);
