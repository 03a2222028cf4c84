/* Writes the fixes of an audit to its cluster, one after the other, and tells of each in kubectl's words.
 * A patch says which version of the object was audited: what has changed since is never overwritten. A
 * manifest is applied where nothing is, or where the same manager applied it before.
 * Owner: the command, on the thread of the client's loop, which is turned meanwhile. */
#pragma once
#include "app/audit/audit_request.h"

struct kube_client;

/* Writes `request->fixes`, and counts in them what was written and what was not. */
void audit_apply(const struct audit_request *request, struct kube_client *client);
/* Says on stderr how many that were. */
void audit_apply_sum_up(const struct audit_request *request);
