/* A request of the admin socket whose answer takes its time: it is with the engine thread until that answers,
 * meanwhile nothing waits for it but its client, however long. Owner: the admin socket; whoever took one owes
 * it exactly one reply. All calls on the engine thread. */
#pragma once
#include "base/err.h"
#include "object/parse/tape.h"

struct admin_call;

/* Of a session (admin_socket.h): takes the connection, a descriptor that does not block. Nobody else reads or
 * writes there any more; the question is gone then, without a reply. */
int admin_call_take_connection(struct admin_call *question);
const char *admin_call_method(const struct admin_call *question);
/* The request's "params" on `*tape`, which lives as long as the question; 0: there are none. */
size_t admin_call_params(struct admin_call *question, const struct tape **tape);
/* `gone` is called when the client has gone, once at most and never after the reply; the reply is owed all
 * the same. From inside `begin` or later. */
void admin_call_on_disconnect(struct admin_call *question, void (*gone)(void *ctx), void *ctx);
/* `result` is JSON. The question is gone then. */
void admin_call_reply(struct admin_call *question, struct str result);
void admin_call_fail(struct admin_call *question, const char *text);
