/* Writes under --dry-run=client: logged, never sent; the response is what the script gave.
 * Owner: nothing is kept. On the engine thread; nothing here raises. */
#pragma once
#include "object/pack/pool.h"
#include "script/server/write_request.h"
#include "script/vm/host.h"

/* Returns the log message for a write that is not sent. */
const char *dry_write_message(const struct script *script);
/* Sets `*out` to the result of the write, a new reference: the body of a create, an update or an apply; for a
 * patch `given`, the object it names, or if that is NULL one with its name and kind; NULL for a delete. False
 * when the body is not an object. The content of a Secret is not logged. */
bool dry_write(struct script *script, const struct object_request *request, struct root *given,
               struct root **out, struct err *err);
