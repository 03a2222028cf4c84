/* Copies of the state tables of a running generation for an incoming one, made in parts while it runs (E-3).
 * The running generation has no turns from the end of the first part on; what nevertheless touches its tables
 * has the copy begin anew. States that the incoming one does not declare are kept for one generation as
 * bytes, so that the next one can have them back. Owner: the incoming script. On the engine thread, outside
 * of any call into Lua. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct inventory_entry;
struct script;

/* Continues the copy until `end_ns` (clock_thread_ns: time of other processes does not count), or begins it.
 * Returns true once it is whole, has failed, or begins too often: state_copy_finish does the rest. */
bool state_copy_continue(struct script *from, struct script *to, int64_t end_ns);
/* Completes the copy, whatever time it takes, and ends it. Returns false and sets err if it failed: `to` is
 * of no use then. `from` is not changed. */
bool state_copy_finish(struct script *from, struct script *to, struct err *err);
/* Drops the copy, and gives the running generation its turns. Without a copy, does nothing. */
void state_copy_drop(struct script *to);
/* Likewise with the content of one state of `to` (its number is `at`) that was stored, in place of a running
 * generation; state_record_read has accepted the bytes. ERR_PARSE if its migrate refuses them. */
bool state_restore(struct script *to, size_t at, int version, struct str bytes, struct err *err);
/* Sets err for a state whose version differs and that has no migrate; `entry` (optional) knows its place.
 * Returns false. Anywhere. */
bool state_table_reject_version(const struct inventory_entry *entry, const char *name, int before, int after,
                                struct err *err);
