/* Client of the admin socket: sends one request to a running engine. Owner: the caller owns the reply; what
 * is read from it lives as long. Blocks: for commands only. */
#pragma once
#include "base/err.h"
#include "object/parse/tape.h"

struct admin_client;

/* Returns NULL with a one-line error if no engine listens, it does not respond, or it reports an error. */
struct admin_client *admin_client_request(const char *path, const char *method, struct err *err);
/* Sends a request with JSON parameters and waits for the reply at most that long; 0: for ever. */
struct admin_client *admin_client_call(const char *path, const char *method, const char *params,
                                       int64_t timeout_ms, struct err *err);
const struct tape *admin_client_tape(const struct admin_client *client);
size_t admin_client_result(const struct admin_client *client);
void admin_client_free(struct admin_client *client);
