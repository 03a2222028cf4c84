/* Reports of an audit, one file for each format: from the sorted table to a stream. Owner: everything is
 * borrowed. On any one thread. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "audit/found/table.h"

struct report_options {
    bool wide; /* the table has every column */
    bool colours;
    size_t width; /* of the terminal; 0: not a terminal */
    int64_t took_ms;
    int64_t time_s;         /* start of the audit, since 1970 */
    const char *incomplete; /* reason why findings may be missing; NULL: complete */
    const char *source;     /* input, as users name it: "dump.json", "https://..." */
    const char *cluster;    /* whose objects they are: the name of its context; NULL: it has none, or files */
};

typedef void report_writer(const struct audit_table *table, const struct report_options *options, FILE *out);

report_writer report_table, report_json, report_yaml, report_sarif, report_junit, report_policy,
    report_openreports, report_html;

/* Format that `-o` names. */
struct report_format {
    const char *name; /* "table" */
    report_writer *write;
    bool wide;   /* `wide` of the options */
    bool passes; /* also lists passes: the table must keep them */
};
#define REPORT_FORMATS "table|wide|json|yaml|sarif|junit|policyreport|openreports|html"
/* Returns NULL for a name that is not in REPORT_FORMATS. */
const struct report_format *report_format_of(const char *name);
