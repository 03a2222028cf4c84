/* Audits of the cluster of a test.
 * Owner: the test's engine; see script/specs/spec_engine.h. */
#pragma once
#include "app/specs/spec_engine.h"

/* As ops.check_params and ops.audit say. */
bool test_audit_check_params(struct test_engine *engine, struct err *err);
bool test_audit(struct test_engine *engine, const struct test_audit *audit, struct buf *out, struct err *err);

/* --- Commands of a script under test.
 * Owner: the test's engine; see script/specs/spec_engine.h. */

/* As ops.call says. */
bool test_command_call(struct test_engine *engine, const char *name, const char *const *args, size_t count,
                       struct test_call_result *result, struct err *err);
