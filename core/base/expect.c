/* Assertions that the caller recovers from; see expect.h. */
#include "base/expect.h"

#include "base/log.h"
#include "base/metrics.h"

bool expect_failed(const char *condition, const char *file, int line)
{
    metric_inc(&metric_expectations_failed);
    log_error("Broken expectation", F("condition", condition), F("file", file), FI("line", line));
    return false;
}
