/* Runs `kubelua audit` once its request is known: evaluates rules, reports and returns an exit code. Owner:
 * the command, on the main thread. */
#pragma once
#include "app/audit/audit_request.h"

/* The exit code; whatever went wrong was reported on stderr. */
int audit_run(const struct audit_request *request);
/* The report is the table, in whose place commands are printed. */
bool audit_is_table(const struct audit_request *request);
