/* What a rule is about, for `kubelua audit --explain RULE`, and which there are, for --list-rules. Owner: the
 * command, on the main thread. */
#pragma once
#include "app/audit/audit_request.h"

/* Prints it to stdout. False with an error when no script has the rule, which names the one that was meant.
 */
bool audit_explain(const struct audit_request *request, struct err *err);
