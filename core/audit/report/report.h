/* Reports of an audit, one file for each format: from the table, sorted, to a stream.
 * Owner: all is borrowed. On any one thread. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "audit/found/table.h"

struct report_options {
    bool wide; /* of the table: every column */
    bool colours;
    size_t width; /* of the terminal; 0: it is none */
    int64_t took_ms;
    int64_t time_s;         /* since 1970, when the audit began */
    const char *incomplete; /* why there may be more to find than is told; NULL: it is whole */
    const char *source;     /* what was audited, as a person calls it: "dump.json", "https://..." */
};

typedef void report_writer(const struct audit_table *table, const struct report_options *options, FILE *out);

report_writer report_table, report_json, report_yaml, report_sarif, report_junit, report_policy,
    report_openreports, report_html;

/* One that `-o` names. */
struct report_format {
    const char *name; /* "table" */
    report_writer *write;
    bool wide;   /* `wide` of the options */
    bool passes; /* it tells of passes too: the table must keep them */
};
#define REPORT_FORMATS "table|wide|json|yaml|sarif|junit|policyreport|openreports|html"
/* NULL for none of REPORT_FORMATS. */
const struct report_format *report_format_of(const char *name);
