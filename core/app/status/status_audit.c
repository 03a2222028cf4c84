/* What `kubelua status` shows of continuous audits; see status_viewer.h. */
#include <inttypes.h>
#include <string.h>

#include "app/status/status_viewer.h"
#include "base/mem.h"

/* --- the line of all rules */

/* `one` and `many`: "rule" and "rules". */
static void put_count(struct viewer *v, size_t at, const char *member, const char *one, const char *many,
                      struct buf *out)
{
    int64_t count = viewer_int(v, at, member);
    if (count) buf_printf(out, "%s%" PRId64 " %s", out->len ? ", " : "", count, count == 1 ? one : many);
}

static void put_results(struct viewer *v, size_t at, struct buf *out)
{
    size_t counts = tape_field(v->tape, at, STR("results"));
    const char *before = "; ";
    struct str verdict;
    for (size_t c = tape_first(v->tape, counts, &verdict); c; c = tape_next(v->tape, counts, c, &verdict)) {
        if (!tape_int(v->tape, c, 0)) continue;
        buf_printf(out, "%s%" PRId64 " %.*s", before, tape_int(v->tape, c, 0), STR_ARG(verdict));
        before = ", ";
    }
}

/* "audit: 12 rules, 340 objects, 3 waiting; 20 fail, 4000 pass" */
static void print_line(struct viewer *v, size_t at)
{
    struct buf line = {0};
    put_count(v, at, "rules", "rule", "rules", &line);
    put_count(v, at, "waitingRules", "waiting for its caches", "waiting for their caches", &line);
    put_count(v, at, "coarseRules", "has too many dependencies and is re-evaluated as a whole",
              "have too many dependencies and are re-evaluated as a whole", &line);
    put_count(v, at, "lackingRules", "needs a kind that the server does not have",
              "need kinds that the server does not have", &line);
    put_count(v, at, "tornRules", "not evaluated: objects of a kind that it uses were refused",
              "not evaluated: objects of kinds that they use were refused", &line);
    put_count(v, at, "twinRules", "not evaluated: duplicate id", "not evaluated: duplicate ids", &line);
    put_count(v, at, "quarantinedRules", "in quarantine", "in quarantine", &line);
    put_count(v, at, "objects", "object", "objects", &line);
    put_count(v, at, "pending", "waiting", "waiting", &line);
    put_count(v, at, "findingsLeftOut", "result without findings (memory limit)",
              "results without findings (memory limit)", &line);
    put_results(v, at, &line);
    if (line.len == 0) buf_puts(&line, "no script has a rule");
    if (!viewer_bool(v, at, "active")) buf_puts(&line, "; evaluated by the leader");
    viewer_print_line(v, "audit", &line);
    buf_clear(&line);
}

/* "incomplete: pods: 1 object is refused: ..." */
static void print_refused(struct viewer *v, size_t at)
{
    size_t all = tape_field(v->tape, at, STR("refused"));
    for (size_t r = tape_first(v->tape, all, NULL); r; r = tape_next(v->tape, all, r, NULL)) {
        struct buf line = {0};
        buf_str(&line, tape_str(v->tape, r));
        viewer_print_line(v, "incomplete", &line);
        buf_clear(&line);
    }
}

/* --- one by one */

static const struct text_column columns[] = {{"RULE", false}, {"SEVERITY", false}, {"PASS", true},
                                             {"SKIP", true},  {"WARN", true},      {"FAIL", true},
                                             {"ERROR", true}, {"SCRIPT", false},   {NULL, false}};
static const char *const verdicts[] = {"pass", "skip", "warn", "fail", "error"};
enum { COLUMN_RESULTS = 2, COLUMN_ERROR = 6, COLUMN_SCRIPT };

static bool is_shown(const struct viewer *v, size_t at)
{
    size_t results = tape_field(v->tape, at, STR("results"));
    return v->view->wide || !viewer_bool(v, at, "asked") || viewer_int(v, results, "error") ||
           viewer_bool(v, at, "quarantined");
}

/* An error that is no string says no place; the rule's is better than none. */
static void put_error(struct viewer *v, size_t at, struct buf *out)
{
    size_t error = tape_field(v->tape, at, STR("lastError"));
    struct str message = viewer_text(v, error, "message"), file = viewer_text(v, at, "file");
    if (!error) return;
    int64_t errors = viewer_int(v, at, "errors");
    buf_printf(out, "%" PRId64 " error%s so far, the last of ", errors, errors == 1 ? "" : "s");
    buf_str(out, viewer_text(v, error, "object"));
    buf_puts(out, " ");
    text_duration(v->now_s - viewer_time(v, error, "time"), out);
    buf_printf(out, " ago: %.*s", STR_ARG(message));
    if (message.n && file.n && memmem(message.p, message.n, file.p, file.n)) return;
    buf_printf(out, " (the rule is at %.*s:%" PRId64 ")", STR_ARG(file), viewer_int(v, at, "line"));
}

static void note_rule(struct viewer *v, struct text_table *table, size_t at)
{
    struct buf text = {0};
    struct str twin = viewer_text(v, at, "twin"), lacks = viewer_text(v, at, "lacks");
    if (twin.n)
        buf_printf(&text, "not evaluated: %.*s has a rule with the same id", STR_ARG(twin));
    else if (viewer_bool(v, at, "torn"))
        buf_puts(&text, "not evaluated: objects of a kind that it uses were refused");
    else if (viewer_bool(v, at, "quarantined"))
        buf_printf(&text,
                   "in quarantine, every result is an error: fix and reload the script, or run kubelua "
                   "quarantine --lift rule/%.*s",
                   STR_ARG(viewer_text(v, at, "id")));
    else if (lacks.n)
        buf_printf(&text, "%s: the server does not have %.*s",
                   viewer_bool(v, at, "asked") ? "evaluated for its other kinds" : "not evaluated",
                   STR_ARG(lacks));
    else if (viewer_bool(v, at, "waiting"))
        buf_puts(&text, "waiting for its caches");
    text_table_add_note(table, buf_text(&text));
    text.len = 0;
    put_error(v, at, &text);
    text_table_add_note(table, buf_text(&text));
    buf_clear(&text);
}

static void add_rule(struct viewer *v, struct text_table *table, size_t at)
{
    size_t results = tape_field(v->tape, at, STR("results"));
    viewer_put_text(v, 0, viewer_text(v, at, "id"));
    viewer_put_text(v, 1, viewer_text(v, at, "severity"));
    for (size_t i = 0; i < ARRAY_LEN(verdicts); i++)
        viewer_put_int(v, COLUMN_RESULTS + i, viewer_int(v, results, verdicts[i]));
    viewer_put_text(v, COLUMN_SCRIPT, viewer_text(v, at, "script"));
    viewer_add_row(v, table);
    if (viewer_int(v, results, "error")) text_table_tint(table, COLUMN_ERROR, TINT_BAD);
    note_rule(v, table, at);
}

void status_audit_print(struct viewer *v, size_t audit)
{
    struct text_table table = {.columns = columns};
    size_t rules = tape_field(v->tape, audit, STR("byRule"));
    if (!audit) return;
    print_line(v, audit);
    print_refused(v, audit);
    status_reports_print(v, tape_field(v->tape, audit, STR("reports")));
    for (size_t r = tape_first(v->tape, rules, NULL); r; r = tape_next(v->tape, rules, r, NULL))
        if (is_shown(v, r)) add_rule(v, &table, r);
    viewer_print_table(v, &table);
}

/* --- What `kubelua status` shows of reports in the cluster */

static void put_few(struct viewer *v, size_t at, const char *member, const char *what, struct buf *out)
{
    int64_t count = viewer_int(v, at, member);
    if (count) buf_printf(out, ", %" PRId64 " %s", count, what);
}

static void put_cause(struct viewer *v, size_t at, const char *member, struct buf *out)
{
    struct str cause = viewer_text(v, at, member);
    if (cause.n) buf_printf(out, "; %.*s", STR_ARG(cause));
}

/* "reports: 12 PolicyReports, 2 to be written"; under a dry run nothing of that is in the cluster. */
void status_reports_print(struct viewer *v, size_t reports)
{
    struct buf line = {0};
    if (!reports) return;
    int64_t count = viewer_int(v, reports, "reports");
    buf_printf(&line, "%" PRId64 " %.*s%s", count, STR_ARG(viewer_text(v, reports, "kind")),
               count == 1 ? "" : "s");
    if (viewer_bool(v, reports, "dryRun")) buf_puts(&line, " (not persisted: --dry-run=server)");
    put_few(v, reports, "waiting", "to be written", &line);
    put_few(v, reports, "failed", "writes failed", &line);
    put_few(v, reports, "namespacesLeftOut", "namespaces omitted (report limit)", &line);
    if (!viewer_bool(v, reports, "begun"))
        buf_puts(&line, "; nothing is written before all objects have been evaluated");
    put_cause(v, reports, "incomplete", &line);
    put_cause(v, reports, "error", &line);
    viewer_print_line(v, "reports", &line);
    buf_clear(&line);
}

/* --- The table of timers of `kubelua status` */

static const struct text_column columns_wide[] = {
    {"TIMER", false}, {"DUE IN", true}, {"RUNNING", true}, {"SKIPPED", true}, {"PLACE", false}, {NULL, false},
};
static const struct text_column columns_narrow[] = {
    {"SCHEDULE", false}, {"DUE IN", true}, {"RUNNING", true}, {"SKIPPED", true}, {NULL, false},
};

static void add(struct viewer *v, struct text_table *table, size_t at)
{
    int64_t due = viewer_time(v, at, "due");
    viewer_put_text(v, 0, viewer_text(v, at, "timer"));
    if (due)
        text_duration(due > v->now_s ? due - v->now_s : 0, viewer_cell(v, 1));
    else
        viewer_put_text(v, 1, (struct str){0});
    viewer_put_int(v, 2, viewer_int(v, at, "calls"));
    viewer_put_int(v, 3, viewer_int(v, at, "skipped"));
    viewer_put_text(v, 4, viewer_text(v, at, "place"));
    viewer_add_row(v, table);
    if (viewer_int(v, at, "skipped")) text_table_tint(table, 3, TINT_WAITING);
    if (viewer_bool(v, at, "leader")) text_table_note(table, "on the leader only");
}

void status_timers_print(struct viewer *v, size_t timers)
{
    struct text_table table = {.columns = v->view->wide ? columns_wide : columns_narrow};
    for (size_t t = tape_first(v->tape, timers, NULL); t; t = tape_next(v->tape, timers, t, NULL))
        if (v->view->wide || str_is(viewer_text(v, t, "kind"), "cron")) add(v, &table, t);
    viewer_print_table(v, &table);
}
