/* Prompts of a running engine: each is a session of the admin socket; see repl_protocol.h. Owner: the driver
 * of the engine; on the engine thread, outside of any call into Lua, unless said otherwise. */
#pragma once
#include "app/admin/admin_call.h"
#include "base/buf.h"

struct engine;
struct repl_sessions;

struct repl_sessions *repl_sessions_new(struct engine *engine);
/* Begins a session (admin_socket.h) for a prompt. */
void repl_sessions_begin(void *sessions, struct admin_call *call);
/* A cache has synced. From inside that. */
void repl_sessions_claims_changed(struct repl_sessions *sessions);
/* Appends the open prompts for the status. */
void repl_sessions_put(void *sessions, struct buf *out);
/* Notifies prompts that the engine ends. */
void repl_sessions_end(struct repl_sessions *sessions);
/* Frees all sessions. Call before scripts are freed; NULL is allowed. */
void repl_sessions_free(struct repl_sessions *sessions);
