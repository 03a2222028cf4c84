/* The report as PolicyReports of wgpolicyk8s.io/v1alpha2. */
#include "audit/report/report_policy.h"

void report_policy(const struct audit_table *table, const struct report_options *options, FILE *out)
{
    policy_results_write(&policy_api_wgpolicy, table, options, out);
}
