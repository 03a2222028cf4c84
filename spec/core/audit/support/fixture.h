/* A table of an audit, made by hand, for the specs of its reports: three rules with findings, one that failed
 * and one that has nothing to say; objects with and without a namespace, an accepted finding, and texts that
 * are nasty in each format. Owner: the caller frees the table and the texts. */
#pragma once
#include "audit/report/report.h"

struct audit_table *fixture_table(bool keep_passes);
/* As it was found. */
struct audit_table *fixture_unsorted(bool keep_passes);
/* `rows` findings of `rules` rules, in 50 namespaces. */
struct audit_table *fixture_large(size_t rows, size_t rules);
extern const struct report_options fixture_options;

/* What a report says; the caller frees it. */
char *fixture_print(report_writer *write, const struct audit_table *table,
                    const struct report_options *options);
