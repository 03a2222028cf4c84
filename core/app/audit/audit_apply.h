/* Writes the fixes of an audit to its cluster, one after the other, and reports each in kubectl's words. A
 * patch names the version that was audited, so that later changes are never overwritten. A manifest is
 * applied where no object exists, or one that the same manager applied. Owner: the command, on the thread of
 * the client's loop, which it turns. */
#pragma once
#include "app/audit/audit_request.h"

struct kube_client;

/* Writes `request->fixes`, and counts in them what was written and what was not. */
void audit_apply(const struct audit_request *request, struct kube_client *client);
/* Prints on stderr how many were written. */
void audit_apply_sum_up(const struct audit_request *request);
