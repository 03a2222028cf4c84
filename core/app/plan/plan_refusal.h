/* Why a reload would refuse a file that loads: what of the take-over's checks can be told from plans. What
 * cannot: whether the server has its kinds, whether its informers sync in time, and what `migrate` does.
 * Owner: everything is borrowed. On the main thread of a command. */
#pragma once
#include "app/plan/plan_match.h"
#include "base/err.h"

/* A state has another version than the one that runs, and a `migrate`. The file has its `other`. */
bool plan_keeps_states(const struct planned *file, struct err *err);
/* No metric of file `i` clashes with one of another script: that runs, even if it is to change too, as both
 * are loaded before either takes over; or that an earlier file is to make. */
bool plan_metrics_fit(const struct planned *running, size_t running_count, const struct planned *files,
                      size_t i, struct err *err);
