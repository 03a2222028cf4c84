/* A call on the admin socket whose reply takes its time. The engine thread has it until it replies; meanwhile
 * its client alone waits, however long. Owner: the admin socket; code that takes a call owes it exactly one
 * reply. All functions on the engine thread. */
#pragma once
#include "base/err.h"
#include "object/parse/tape.h"

struct admin_call;

/* Of a session (admin_socket.h): takes the connection, a descriptor that does not block. Nobody else reads or
 * writes there any more; the call is gone then, without a reply. */
int admin_call_take_connection(struct admin_call *call);
const char *admin_call_method(const struct admin_call *call);
/* The request's "params" on `*tape`, which lives as long as the call; 0: there are none. */
size_t admin_call_params(struct admin_call *call, const struct tape **tape);
/* `gone` is called when the client has gone, once at most and never after the reply; the reply is owed all
 * the same. From inside `begin` or later. */
void admin_call_on_disconnect(struct admin_call *call, void (*gone)(void *ctx), void *ctx);
/* `result` is JSON. The call is gone then. */
void admin_call_reply(struct admin_call *call, struct str result);
void admin_call_fail(struct admin_call *call, const char *text);
