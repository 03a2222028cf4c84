/* Call on the admin socket that may be replied to later. The engine thread owns it until the reply; only its
 * client waits meanwhile. Owner: the admin socket; code that accepts a call owes exactly one reply. All
 * functions on the engine thread. */
#pragma once
#include "base/err.h"
#include "object/parse/tape.h"

struct admin_call;

/* Takes the connection of a session (admin_socket.h) and returns its non-blocking descriptor, which the
 * caller closes. Frees the call without a reply: nothing else reads or writes the connection any more. */
int admin_call_take_connection(struct admin_call *call);
const char *admin_call_method(const struct admin_call *call);
/* Sets `*tape` to the tape of the request and returns the place of its "params", or 0 without any. Valid as
 * long as the call. */
size_t admin_call_params(struct admin_call *call, const struct tape **tape);
/* Calls `gone` at most once, when the client disconnects before the reply; the reply is owed all the same.
 * Call from `begin` or later. */
void admin_call_on_disconnect(struct admin_call *call, void (*gone)(void *ctx), void *ctx);
/* The reply is a matter of turns of the loop: the client is told that the engine is busy when it is not
 * there in time, as of calls that are replied to at once. Call before the reply. */
void admin_call_expect_soon(struct admin_call *call);
/* Replies with `result`, which is JSON, and frees the call. */
void admin_call_reply(struct admin_call *call, struct str result);
/* Replies with an error message, in which secrets are hidden, and frees the call. */
void admin_call_fail(struct admin_call *call, const char *text);
