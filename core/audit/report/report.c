/* The formats of reports; see report.h. */
#include "audit/report/report.h"

#include <string.h>

#include "base/mem.h"

static const struct report_format formats[] = {
    {"table", report_table, false, false},        {"wide", report_table, true, false},
    {"json", report_json, false, false},          {"yaml", report_yaml, false, false},
    {"sarif", report_sarif, false, false},        {"junit", report_junit, false, true},
    {"policyreport", report_policy, false, true}, {"openreports", report_openreports, false, true},
    {"html", report_html, false, false},
};

const struct report_format *report_format_of(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(formats); i++)
        if (strcmp(formats[i].name, name) == 0) return &formats[i];
    return NULL;
}
