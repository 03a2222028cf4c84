/* Logs failed calls; see failure_log.h. */
#include "script/vm/failure_log.h"

#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "script/vm/call.h"

FAMILY(family_script_errors, 109, COUNTER, "kubelua_script_errors_total", "script,call", NULL,
       "Number of failed calls of a script's functions.");

enum { REPORT_INTERVAL_MS = 1000 };

static const struct {
    const char *label, *message;
} functions[SCRIPT_FUNCTIONS] = {
    [SCRIPT_HANDLER] = {"handler", "Handler failed"},
    [SCRIPT_FILTER] = {"filter", "Handler failed"}, /* its field `event` says that it was the filter */
    [SCRIPT_WORKER] = {"worker", "Worker failed"},
    [SCRIPT_TIMER] = {"timer", "Timer failed"},
    [SCRIPT_MAIN] = {"main", "Main failed"},
    [SCRIPT_COMMAND] = {"command", "Command failed"},
    [SCRIPT_WEBHOOK] = {"webhook", "Webhook failed"},
    [SCRIPT_LEADER] = {"on_leader", "Function of a leader failed"},
    [SCRIPT_STOP] = {"on_stop", "Function of k8s.on_stop failed"},
    [SCRIPT_TRANSFORM] = {"transform", "Transform failed"},
    [SCRIPT_INDEX] = {"index", "Index function failed"},
    [SCRIPT_SINK] = {"sink", "Function of k8s.sink failed"},
};

void script_errors_open(struct script *script)
{
    for (int i = 0; i < SCRIPT_FUNCTIONS; i++)
        script->report.errors[i] = SERIES(&family_script_errors, script->id.name, functions[i].label);
}

void script_errors_close(struct script *script)
{
    for (int i = 0; i < SCRIPT_FUNCTIONS; i++) series_free(script->report.errors[i]);
}

const char *script_function_label(enum script_function function)
{
    return functions[function].label;
}

void failure_log_set_place(struct failure_log *report, lua_State *L, int ref)
{
    lua_Debug ar;
    report->line = 0;
    lua_rawgeti(L, LUA_REGISTRYINDEX, ref);
    lua_getinfo(L, ">S", &ar);
    if (ar.linedefined <= 0 || *ar.source == '=') return; /* ours */
    memcpy(report->source, ar.short_src, sizeof report->source);
    report->line = ar.linedefined;
}

static void write(const struct failure_log *report, const struct script *script, const char *message,
                  const struct log_field *fields)
{
    const struct script_failure *failure = &script->failure;
    if (failure->line)
        log_write(LOG_ERROR, failure->source, failure->line, message, fields);
    else if (report && report->line)
        log_write(LOG_ERROR, report->source, report->line, message, fields);
    else
        log_write(LOG_ERROR, script->id.path, 0, message, fields);
}

static void write_rest(struct failure_log *report)
{
    const struct log_field fields[] = {F("script", report->script->id.name),
                                       report->whose,
                                       FI("unreported", report->unreported),
                                       {.key = NULL}};
    log_write(LOG_ERROR, report->line ? report->source : report->script->id.path, report->line,
              "More failures", fields);
    report->unreported = 0;
}

static void on_rest(struct timer *timer)
{
    write_rest(container_of(timer, struct failure_log, rest));
}

/* A failure of the next second has a line that tells of it; only after that it is told by itself. */
static void leave_out(struct failure_log *report, struct script *script, const struct log_field *whose,
                      int64_t now)
{
    report->unreported++;
    report->script = script;
    report->whose = *whose;
    if (!timer_running(&report->rest) && (script->host->clock || script->host->loop))
        timer_start(&report->rest, script_clock(script), report->written_ms + 2 * REPORT_INTERVAL_MS - now);
}

static bool is_due(struct failure_log *report, struct script *script, const struct log_field *whose)
{
    int64_t now = clock_now_ms(script_clock(script));
    report->rest.fn = on_rest;
    if (report->written_ms && now - report->written_ms < REPORT_INTERVAL_MS) {
        leave_out(report, script, whose, now);
        return false;
    }
    timer_cancel(&report->rest);
    report->written_ms = now;
    return true;
}

void failure_log_flush(struct failure_log *report)
{
    timer_cancel(&report->rest);
    if (report->unreported > 0) write_rest(report);
}

/* With its place, which errors of tables and of memory do not have in their text. */
static void keep_first(struct script *script)
{
    const struct script_failure *failure = &script->failure;
    struct str rest = buf_slice(&failure->text), line = {0};
    size_t n = strlen(failure->source);
    if (script->report.first_failure.len) return;
    str_cut(&rest, '\n', &line);
    bool has_place = n > 0 && line.n > n && memcmp(line.p, failure->source, n) == 0;
    if (failure->line && !has_place)
        buf_printf(&script->report.first_failure, "%s:%d: ", failure->source, failure->line);
    buf_str(&script->report.first_failure, line);
}

bool failures_go_on(int64_t failed_us, int64_t failing_us)
{
    enum { WELL_US = 60 * 1000000 };
    return failed_us && failing_us - failed_us <= WELL_US;
}

static void note_time(struct script *script)
{
    struct script_counters *counters = &script->report.counters;
    int64_t now_us = clock_wall_us(script_clock(script));
    if (!failures_go_on(counters->failed_us, now_us)) counters->failing_us = now_us;
    counters->failed_us = now_us;
}

void failure_log_add(struct failure_log *report, struct script *script, enum script_function function,
                     enum script_result result, const struct log_field *about)
{
    struct script_failure *failure = &script->failure;
    struct log_field fields[REPORT_FIELDS_MAX + 6];
    size_t n = 0;
    script->report.counters.errors++;
    script->report.tally.failed++;
    note_time(script);
    keep_first(script);
    script->report.error_counts[function]++;
    series_inc(script->report.errors[function]);
    if (script->host->hooks.failed) {
        script->host->hooks.failed(script->host->hooks.ctx, functions[function].label,
                                   buf_text(&failure->text), buf_text(&failure->traceback), about);
        return;
    }
    if (report && !is_due(report, script, about)) return;
    fields[n++] = F("script", script->id.name);
    for (; about->key; about++) {
        must(n <= REPORT_FIELDS_MAX);
        fields[n++] = *about;
    }
    fields[n++] = F("result", script_result_name(result));
    fields[n++] = FS("err", buf_slice(&failure->text));
    fields[n++] = FL("traceback", buf_slice(&failure->traceback));
    if (report && report->unreported > 0) fields[n++] = FI("unreported", report->unreported);
    fields[n] = (struct log_field){.key = NULL};
    write(report, script, functions[function].message, fields);
    if (report) report->unreported = 0;
}
