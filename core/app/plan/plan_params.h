/* Parameters of rules that a running engine was given: files are loaded with them, and one by which a
 * parameter would be of no rule any more is refused. Owner: the command, on the main thread; the engine's
 * answer is borrowed. */
#pragma once
#include "app/plan/plan_match.h"
#include "base/err.h"
#include "object/parse/tape.h"
#include "script/rules/rule_params.h"

struct plan_params {
    const struct tape *tape;
    size_t list;
    struct rule_params *given;
};

/* `list` is the engine's "ruleParams"; 0: it has none. */
void plan_params_open(struct plan_params *params, const struct tape *tape, size_t list);
void plan_params_clear(struct plan_params *params);
/* `scripts` are those of the files, NULL for one that did not load. ERR_INVALID as a reload says it. */
bool plan_params_stay(const struct plan_params *params, const struct planned *files,
                      struct script *const *scripts, size_t count, size_t i, struct err *err);
