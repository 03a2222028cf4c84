/* Audits of the cluster of a test.
 * Owner: the test's engine; see script/test_engine.h. */
#pragma once
#include "app/test_engine.h"

/* As ops.audit says. */
bool test_audit(struct test_engine *engine, const struct test_audit *audit, struct buf *out, struct err *err);
