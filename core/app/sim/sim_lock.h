/* Lock of a state file: one simulator at a time keeps its objects there. Owner: sim_lock_free, which removes
 * the lock file beside the state. Any thread. */
#pragma once
#include "base/err.h"

struct sim_lock;

/* Takes the lock FILE.lock; NULL with an error that names the file, also if another simulator has it. */
struct sim_lock *sim_lock_take(const char *state, struct err *err);
/* NULL is allowed. */
void sim_lock_free(struct sim_lock *lock);
