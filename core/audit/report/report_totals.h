/* What an audit comes to, as the table report ends with it. Owner: all is borrowed. On any one thread. */
#pragma once
#include "audit/report/report_lines.h"

void report_totals(struct report_lines *r, const struct audit_table *table);
