/* Descriptions of rules for `kubelua audit --explain RULE`, and their list for --list-rules: of files,
 * or of the scripts of a running engine. Owner: the command, on the main thread. */
#pragma once
#include "app/audit/audit_request.h"

/* Prints it to stdout. False with an error when no script has the rule, which names the one that was meant.
 */
bool audit_explain(const struct audit_request *request, struct err *err);
