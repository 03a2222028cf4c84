/* The report as Reports of openreports.io/v1alpha1, by whose configuration a report tells that it lists no
 * passes. */
#include "audit/report/report_policy.h"

void report_openreports(const struct audit_table *table, const struct report_options *options, FILE *out)
{
    policy_results_write(&policy_api_openreports, table, options, out);
}
