/* Logs failed calls; see report.h. */
#include "script/report.h"

#include "base/must.h"

enum { REPORT_INTERVAL_MS = 1000 };

static bool is_due(struct failure_report *report, struct clock *clock)
{
    int64_t now = clock_now_ms(clock);
    if (report->written_ms && now - report->written_ms < REPORT_INTERVAL_MS) {
        report->unreported++;
        return false;
    }
    report->written_ms = now;
    return true;
}

void report_failure(struct failure_report *report, const struct script *script, enum script_result result,
                    const char *message, const struct log_field *about)
{
    const struct script_failure *failure = &script->failure;
    struct log_field fields[REPORT_FIELDS_MAX + 6];
    size_t n = 0;
    if (report && !is_due(report, script_clock(script))) return;
    fields[n++] = F("script", script->name);
    for (; about->key; about++) {
        must(n <= REPORT_FIELDS_MAX);
        fields[n++] = *about;
    }
    fields[n++] = F("result", script_result_name(result));
    fields[n++] = FS("err", buf_slice(&failure->text));
    fields[n++] = FS("traceback", buf_slice(&failure->traceback));
    if (report) fields[n++] = FI("unreported", report->unreported);
    fields[n] = (struct log_field){.key = NULL};
    log_write(LOG_ERROR, failure->line ? failure->source : script->path, failure->line, message, fields);
    if (report) report->unreported = 0;
}
