/* Audits of files: scripts without a server, objects read one by one; where a rule looks at other objects
 * too, all are read first. Owner: the command, on the main thread. */
#pragma once
#include "app/audit/audit_request.h"

/* Audits what `from` names. */
enum audit_end audit_of_files(const struct audit_request *request, struct audit_table *table,
                              struct err *err);
