/* Failure log of calls: each failure is counted, and one a second of each handler, timer, index function or
 * transform has a line in the log; the next line has the number of those omitted, or a line of its own if
 * none comes in time. Owner: who embeds the struct. On the engine thread, outside of Lua. */
#pragma once
#include "base/log.h"
#include "script/vm/state.h"

/* The series of a script begin with 0, so that the first failure is seen by rate(). */
void script_errors_open(struct script *script);
void script_errors_close(struct script *script);
/* "handler": the label. */
const char *script_function_label(enum script_function function);

/* Returns whether failures since `failing_us` continue those of which the last was at `failed_us` (0: there
 * were none): a script that has been well for a minute fails anew. Times of the wall clock. */
bool failures_go_on(int64_t failed_us, int64_t failing_us);

struct failure_log {
    int64_t written_ms; /* 0: never */
    uint64_t unreported;
    struct timer rest;       /* runs while there are some */
    struct script *script;   /* these two are known since the first failure */
    struct log_field whose;  /* borrowed: the text belongs to the owner */
    char source[LUA_IDSIZE]; /* see failure_log_set_place; "" when it was not called */
    int line;
};

/* The function with this reference in the registry is to blame for failures that were raised by no line of
 * the script, such as a wrong result: they name the place where it begins. */
void failure_log_set_place(struct failure_log *report, lua_State *L, int ref);

/* The cause is in script->failure; `about` (ended by a NULL key, at most REPORT_FIELDS_MAX) tells what
 * failed: first whose failure it is, by a text that lives as long as the report. With `report` NULL each
 * failure is written. */
enum { REPORT_FIELDS_MAX = 4 };
void failure_log_add(struct failure_log *report, struct script *script, enum script_function function,
                     enum script_result result, const struct log_field *about);
/* Its owner ends: what was omitted is logged now. The script must still be there. */
void failure_log_flush(struct failure_log *report);
