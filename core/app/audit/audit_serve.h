/* Audits of a running engine: each is a session of the admin socket; see audit_protocol.h. Owner: the driver
 * of the engine; on the engine thread. */
#pragma once
#include "app/admin/admin_call.h"

struct audit_sessions;
struct engine;

struct audit_sessions *audit_sessions_new(struct engine *engine);
/* Begins a session (admin_socket.h) for an audit. */
void audit_sessions_begin(void *sessions, struct admin_call *call);
/* Cancels audits in flight, which end soon without a result. */
void audit_sessions_end(struct audit_sessions *sessions);
/* Waits for that. Before the scripts. NULL is allowed. */
void audit_sessions_free(struct audit_sessions *sessions);
