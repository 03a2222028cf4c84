/* Audits of the cluster of a test, and commands of a script under test. Owner: the test's engine. */
#pragma once
#include "app/specs/spec_engine.h"

/* Evaluates the rules on the objects that they match. Appends the results as a JSON array like `-o json` of
 * audits, by severity, rule and object: of one rule, or of all for NULL; passes only with `passes`. */
bool spec_audit(struct spec_engine *engine, const char *rule, bool passes, struct buf *out, struct err *err);

struct spec_call_result {
    enum script_command_end end;
    bool is_json;
    struct buf *text; /* of the caller: result, or reason of the failure */
};

/* Waits until `over`, which a callback sets; a call may sleep or send requests. Advances the clock as far as
 * needed, ten minutes at most; `what` is that of the error. */
bool spec_wait_for(struct spec_engine *engine, const bool *over, const char *what, struct err *err);
/* Calls a command of k8s.command, and advances the clock while it waits, ten minutes at most. */
bool spec_command_call(struct spec_engine *engine, const char *name, const char *const *args, size_t count,
                       struct spec_call_result *result, struct err *err);
