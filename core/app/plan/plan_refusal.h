/* Why a reload would refuse a file that loads: what of the take-over's checks can be told from plans. What
 * cannot: whether the server has its kinds, whether its informers sync in time, and what `migrate` does.
 * Owner: everything is borrowed. On the main thread of a command. */
#pragma once
#include "app/plan/plan_match.h"
#include "base/err.h"
#include "object/parse/tape.h"
#include "script/rules/rule_params.h"

/* A state has another version than the one that runs, and a `migrate`. The file has its `other`. */
bool plan_keeps_states(const struct plan_script *file, struct err *err);
/* No metric of file `i` clashes with one of another script: that runs, even if it is to change too, as both
 * are loaded before either takes over; or that an earlier file is to make. */
bool plan_metrics_fit(const struct plan_script *running, size_t running_count,
                      const struct plan_script *files, size_t i, struct err *err);

/* --- Parameters of rules that a running engine was given: files are loaded with them, and one by which a
 * parameter would be of no rule any more is refused. Owner: the command, on the main thread; the engine's
 * answer is borrowed. */

struct plan_params {
    const struct tape *tape;
    size_t list;
    struct rule_params *given;
};

/* `list` is the engine's "ruleParams"; 0: it has none. */
void plan_params_open(struct plan_params *params, const struct tape *tape, size_t list);
void plan_params_clear(struct plan_params *params);
/* `scripts` are those of the files, NULL for one that did not load. ERR_INVALID as a reload says it. */
bool plan_params_stay(const struct plan_params *params, const struct plan_script *files,
                      struct script *const *scripts, size_t count, size_t i, struct err *err);
