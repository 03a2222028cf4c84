/* Creates the audit job from the request of the command. Owner: stateless. On the main thread. */
#pragma once
#include "app/audit/audit_request.h"

/* A descriptor, for audit_job_read; `passes`: rows of passes are wanted. The rules are loaded here first:
 * -1 with what is wrong with them. */
int audit_job_make(const struct audit_request *request, bool passes, struct err *err);
