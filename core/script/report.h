/* Log lines about calls that failed: at most one a second for each handler, timer, index function or
 * transform, and the next one tells how many were left out. Owner: who embeds the struct. On the engine
 * thread, outside of Lua. */
#pragma once
#include "base/log.h"
#include "script/state.h"

struct failure_report {
    int64_t written_ms; /* 0: never */
    uint64_t unreported;
};

/* The cause is in script->failure; `about` (ended by a NULL key, at most REPORT_FIELDS_MAX) tells what
 * failed. With `report` NULL each failure is written. */
enum { REPORT_FIELDS_MAX = 4 };
void report_failure(struct failure_report *report, const struct script *script, enum script_result result,
                    const char *message, const struct log_field *about);
