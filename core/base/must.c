/* Assertions that stay in release builds; see must.h. */
#include "base/must.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/metrics.h"

void must_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "kubelua: %s:%d: broken invariant: %s\n", file, line, condition);
    abort();
}

bool expect_failed(const char *condition, const char *file, int line)
{
    metric_inc(METRIC_EXPECTATIONS_FAILED);
    log_error("Broken expectation", F("condition", condition), F("file", file), FI("line", line));
    return false;
}
