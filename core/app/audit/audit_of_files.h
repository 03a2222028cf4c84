/* Audits of files: scripts without a server, and objects read one by one, or all first if rules look up other
 * objects. Owner: the command, on the main thread. */
#pragma once
#include "app/audit/audit_request.h"

/* Audits what `from` names. */
enum audit_end audit_of_files(const struct audit_request *request, struct audit_table *table,
                              struct err *err);
