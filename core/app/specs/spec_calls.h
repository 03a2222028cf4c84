/* Audits of the cluster of a test.
 * Owner: the test's engine; see script/specs/spec_engine.h. */
#pragma once
#include "app/specs/spec_engine.h"

/* As ops.check_params and ops.audit say. */
bool spec_audit_check_params(struct spec_engine *engine, struct err *err);
bool spec_audit(struct spec_engine *engine, const struct spec_audit *audit, struct buf *out, struct err *err);

/* --- Commands of a script under test.
 * Owner: the test's engine; see script/specs/spec_engine.h. */

/* As ops.call says. */
bool spec_command_call(struct spec_engine *engine, const char *name, const char *const *args, size_t count,
                       struct spec_call_result *result, struct err *err);
