/* Prompts at a running engine: each is a session of the admin socket; see repl_protocol.h. Owner: the driver
 * of the engine; on the engine thread, outside of any call into Lua, but where said otherwise. */
#pragma once
#include "app/admin/admin_call.h"
#include "base/buf.h"

struct engine;
struct repl_sessions;

struct repl_sessions *repl_sessions_new(struct engine *engine);
/* A prompt asks for a session (admin_socket.h). */
void repl_sessions_begin(void *sessions, struct admin_call *call);
/* A cache has synced. From inside that. */
void repl_sessions_claims_changed(struct repl_sessions *sessions);
/* For the status: which prompts there are. */
void repl_sessions_put(void *sessions, struct buf *out);
/* They are notified that the engine ends. */
void repl_sessions_end(struct repl_sessions *sessions);
/* Before the scripts. NULL is allowed. */
void repl_sessions_free(struct repl_sessions *sessions);
