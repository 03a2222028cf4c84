/* Targets that the operator allows by --allow-sink. Owner: stateless. Any thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "script/server/sink_target.h"

/* An item is a directory, "file:///dir/", or a file; or a server of nats://, tls://, kafka:// or
 * kafka+ssl://, "nats://host:port", without a port for any, or "*" for all; nats:// allows tls://, too, and
 * kafka:// kafka+ssl://. Returns false and sets err for one that is none of these. */
bool sink_allow_check(const char *item, struct err *err);
/* ERR_INVALID with reason "Forbidden"; `name` is that of the flag. */
bool sink_allows(const char *const *items, size_t count, const struct sink_target *target, const char *name,
                 struct err *err);
