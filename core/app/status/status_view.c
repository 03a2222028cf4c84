/* Tables of `kubelua status`; see status_view.h. */
#include "app/status/status_view.h"

#include <inttypes.h>
#include <stdlib.h>

#include "app/status/status_viewer.h"
#include "base/mem.h"

/* --- the engine */

/* Without it the kinds are not known, and every informer waits. */
static void print_discovery(struct viewer *v, size_t at)
{
    struct buf line = {0};
    int64_t asking = viewer_time(v, at, "discoveryAsking"), plugin = viewer_time(v, at, "execPluginRunning");
    if (plugin) { /* the server has not been asked yet */
        buf_printf(&line, "waiting for the exec plugin %.*s for ", STR_ARG(viewer_text(v, at, "execPlugin")));
        text_duration(v->now_s - plugin, &line);
        viewer_print_line(v, "exec plugin", &line);
        asking = 0;
    }
    buf_str(&line, viewer_text(v, at, "discoveryError"));
    if (asking) {
        buf_puts(&line, line.len ? "; retrying discovery for " : "waiting for discovery for ");
        text_duration(v->now_s - asking, &line);
    }
    viewer_print_line(v, "discovery", &line);
    buf_clear(&line);
}

static void print_engine(struct viewer *v, size_t at)
{
    struct buf uptime = {0}, memory = {0};
    bool ready = viewer_bool(v, at, "ready");
    const char *on = !v->view->colours ? "" : ready ? "\033[32m" : "\033[31m";
    struct str metrics = viewer_text(v, at, "metricsAddress"), health = viewer_text(v, at, "healthAddress");
    text_duration(v->now_s - viewer_time(v, at, "started"), &uptime);
    text_bytes(viewer_int(v, at, "memoryBytes"), &memory);
    fprintf(v->out, "kubelua %.*s  %s%s%s  pid %" PRId64 "  up %s  memory %s  cpu %.1fs\n",
            STR_ARG(viewer_text(v, at, "version")), on, ready ? "ready" : "not ready", *on ? "\033[0m" : "",
            viewer_int(v, at, "pid"), buf_text(&uptime), buf_text(&memory),
            (double)viewer_int(v, at, "cpuMilliseconds") / 1000);
    fprintf(v->out, "cluster %.*s (%.*s)\n", STR_ARG(viewer_text(v, at, "server")),
            STR_ARG(viewer_text(v, at, "source")));
    if (metrics.n) fprintf(v->out, "metrics %.*s%s", STR_ARG(metrics), health.n ? "  " : "\n");
    if (health.n) fprintf(v->out, "probes %.*s\n", STR_ARG(health));
    print_discovery(v, at);
    buf_clear(&uptime);
    buf_clear(&memory);
}

/* --- scripts */

enum { COLUMN_MAIN = 1, COLUMN_ERRORS = 7 };

static void put_errors(const struct viewer *v, size_t at, struct buf *out)
{
    size_t errors = tape_field(v->tape, at, STR("errorsByCall"));
    const char *before = out->len ? "; errors: " : "errors: ";
    struct str call;
    for (size_t e = tape_first(v->tape, errors, &call); e; e = tape_next(v->tape, errors, e, &call)) {
        int64_t count = tape_int(v->tape, e, 0);
        if (!count) continue;
        buf_printf(out, "%s%.*s %" PRId64, before, STR_ARG(call), count);
        before = ", ";
    }
}

/* Which handlers lag: how many events each was not told of yet, and how many of its calls wait. */
static void put_lag(const struct viewer *v, size_t at, struct buf *out)
{
    size_t handlers = tape_field(v->tape, at, STR("eventHandlers"));
    const char *before = out->len ? "; pending: " : "pending: ";
    for (size_t h = tape_first(v->tape, handlers, NULL); h; h = tape_next(v->tape, handlers, h, NULL)) {
        int64_t busy = viewer_int(v, h, "busy");
        int64_t pending = viewer_int(v, h, "pending"), debounced = viewer_int(v, h, "debounced");
        if (!pending && !debounced && !busy) continue;
        buf_printf(out, "%s%.*s %" PRId64, before, STR_ARG(viewer_text(v, h, "id")), pending);
        if (debounced) buf_printf(out, " (debounced %" PRId64 ")", debounced);
        if (busy)
            buf_printf(out, " (busy %" PRId64 " of %" PRId64 ")", busy, viewer_int(v, h, "concurrency"));
        before = ", ";
    }
}

/* What is not called any more, since when and why. */
static void put_quarantined(const struct viewer *v, size_t at, struct buf *out)
{
    size_t list = tape_field(v->tape, at, STR("quarantined"));
    for (size_t q = tape_first(v->tape, list, NULL); q; q = tape_next(v->tape, list, q, NULL)) {
        buf_printf(out, "%squarantined: %.*s for ", out->len ? "; " : "", STR_ARG(viewer_text(v, q, "id")));
        text_duration(v->now_s - viewer_time(v, q, "since"), out);
        buf_printf(out, ", %" PRId64 " calls skipped: %.*s", viewer_int(v, q, "skipped"),
                   STR_ARG(viewer_text(v, q, "why")));
    }
}

/* Why the file does not run, and since when. */
static void put_reload_error(const struct viewer *v, size_t at, struct buf *out)
{
    struct str error = viewer_text(v, at, "reloadError");
    const char *what = viewer_bool(v, at, "returned")    ? "returned"
                       : viewer_int(v, at, "generation") ? "reload refused"
                                                         : "refused, not running";
    if (!error.n) return;
    buf_printf(out, "%s%s: %.*s (", out->len ? "; " : "", what, STR_ARG(error));
    text_duration(v->now_s - viewer_time(v, at, "reloadErrorTime"), out);
    buf_puts(out, " ago)");
}

/* The same, what waits to run, and what is still running out. */
static void put_reload(const struct viewer *v, size_t at, struct buf *out)
{
    size_t candidate = tape_field(v->tape, at, STR("candidate"));
    put_reload_error(v, at, out);
    if (candidate)
        buf_printf(out, "%sgeneration %" PRId64 " waits for %.*s", out->len ? "; " : "",
                   viewer_int(v, candidate, "generation"), STR_ARG(viewer_text(v, candidate, "waitsFor")));
    if (viewer_int(v, at, "draining"))
        buf_printf(out, "%sdraining generations: %" PRId64, out->len ? "; " : "",
                   viewer_int(v, at, "draining"));
}

/* What main waits for, or why it failed; how many writes failed, whatever the script did about it; in the
 * wide form also which calls failed, and which handlers lag. */
static void note_script(struct viewer *v, struct text_table *table, size_t at)
{
    struct buf text = {0};
    struct str state = viewer_text(v, at, "mainState");
    bool failed = str_is(state, "failed");
    if (failed) text_table_tint(table, COLUMN_MAIN, TINT_BAD);
    if (failed || str_is(state, "waiting"))
        buf_printf(&text, "main: %.*s", STR_ARG(viewer_text(v, at, "main")));
    if (viewer_int(v, at, "failedWrites"))
        buf_printf(&text, "%swrites failed: %" PRId64, text.len ? "; " : "",
                   viewer_int(v, at, "failedWrites"));
    put_quarantined(v, at, &text);
    put_reload(v, at, &text);
    if (v->view->wide) {
        buf_printf(&text, "%sloaded in %.1f ms", text.len ? "; " : "",
                   (double)viewer_int(v, at, "loadMicroseconds") / 1000);
        if (viewer_int(v, at, "rules")) buf_printf(&text, "; rules: %" PRId64, viewer_int(v, at, "rules"));
        put_errors(v, at, &text);
        put_lag(v, at, &text);
    }
    text_table_note(table, buf_text(&text));
    buf_clear(&text);
}

static void print_scripts(struct viewer *v, size_t scripts)
{
    static const struct text_column columns[] = {
        {"SCRIPT", false}, {"MAIN", false},   {"HANDLERS", true}, {"PENDING", true}, {"ADDS", true},
        {"UPDATES", true}, {"DELETES", true}, {"ERRORS", true},   {"MEMORY", true},  {NULL, false},
    };
    struct text_table table = {.columns = columns};
    for (size_t s = tape_first(v->tape, scripts, NULL); s; s = tape_next(v->tape, scripts, s, NULL)) {
        viewer_put_text(v, 0, viewer_text(v, s, "name"));
        viewer_put_text(v, COLUMN_MAIN, viewer_text(v, s, "mainState"));
        viewer_put_int(v, 2, viewer_int(v, s, "handlers"));
        viewer_put_int(v, 3, viewer_int(v, s, "pending"));
        viewer_put_int(v, 4, viewer_int(v, s, "adds"));
        viewer_put_int(v, 5, viewer_int(v, s, "updates"));
        viewer_put_int(v, 6, viewer_int(v, s, "deletes"));
        viewer_put_int(v, COLUMN_ERRORS, viewer_int(v, s, "errors"));
        text_bytes(viewer_int(v, s, "memoryBytes"), viewer_cell(v, 8));
        viewer_add_row(v, &table);
        if (viewer_int(v, s, "errors")) text_table_tint(&table, COLUMN_ERRORS, TINT_BAD);
        note_script(v, &table, s);
    }
    viewer_print_table(v, &table);
}

/* --- queues */

static const struct text_column queue_columns_wide[] = {
    {"QUEUE", false},     {"WORKERS", true}, {"DEPTH", true},   {"DELAYED", true},
    {"PROCESSING", true}, {"FAILING", true}, {"RETRIES", true}, {"DROPPED", true},
    {"ADDS", true},       {"LONGEST", true}, {"SCRIPT", false}, {NULL, false},
};
static const struct text_column queue_columns_narrow[] = {
    {"QUEUE", false},  {"WORKERS", true}, {"DEPTH", true},   {"DELAYED", true}, {"PROCESSING", true},
    {"FAILING", true}, {"RETRIES", true}, {"DROPPED", true}, {NULL, false},
};

/* What a failing key waits for, and why it does. */
static void note_failing(struct viewer *v, struct text_table *table, size_t at)
{
    struct buf text = {0};
    struct str state = viewer_text(v, at, "state"), error = viewer_text(v, at, "error");
    int64_t retries = viewer_int(v, at, "retries");
    buf_printf(&text, "fails: %.*s, %" PRId64 " %s, ", STR_ARG(viewer_text(v, at, "key")), retries,
               retries == 1 ? "retry" : "retries");
    if (str_is(state, "delayed")) {
        buf_puts(&text, "the next in ");
        text_duration((viewer_int(v, at, "nextTryMilliseconds") + 999) / 1000, &text);
    } else {
        buf_puts(&text,
                 str_is(state, "processing") ? "the last in progress" : "the last waiting for a worker");
    }
    if (error.n) buf_printf(&text, ": %.*s", STR_ARG(error));
    text_table_add_note(table, buf_text(&text));
    buf_clear(&text);
}

/* The keys behind the numbers. */
static void note_keys(struct viewer *v, struct text_table *table, size_t at)
{
    struct buf text = {0};
    struct str longest = viewer_text(v, at, "longestKey");
    size_t keys = tape_field(v->tape, at, STR("failingKeys"));
    int64_t shown = 0, failing = viewer_int(v, at, "failing");
    if (longest.n) buf_printf(&text, "longest: %.*s", STR_ARG(longest));
    text_table_add_note(table, buf_text(&text));
    text.len = 0;
    for (size_t k = tape_first(v->tape, keys, NULL); k; k = tape_next(v->tape, keys, k, NULL), shown++)
        note_failing(v, table, k);
    if (failing > shown) buf_printf(&text, "and %" PRId64 " more fail", failing - shown);
    text_table_add_note(table, buf_text(&text));
    buf_clear(&text);
}

static void add_queue(struct viewer *v, struct text_table *table, size_t at)
{
    static const char *const numbers[] = {"workers", "depth",   "delayed", "processing",
                                          "failing", "retries", "dropped", "adds"};
    viewer_put_text(v, 0, viewer_text(v, at, "name"));
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) viewer_put_int(v, i + 1, viewer_int(v, at, numbers[i]));
    text_duration(viewer_int(v, at, "longestMilliseconds") / 1000, viewer_cell(v, 9));
    viewer_put_text(v, 10, viewer_text(v, at, "script"));
    viewer_add_row(v, table);
    if (viewer_int(v, at, "failing")) text_table_tint(table, 5, TINT_WAITING);
    if (viewer_int(v, at, "dropped")) text_table_tint(table, 7, TINT_BAD);
    if (viewer_bool(v, at, "shutDown")) text_table_note(table, "shut down");
    if (v->view->wide) note_keys(v, table, at);
}

/* False when there are none. */
static bool print_queues(struct viewer *v, size_t queues)
{
    struct text_table table = {.columns = v->view->wide ? queue_columns_wide : queue_columns_narrow};
    for (size_t q = tape_first(v->tape, queues, NULL); q; q = tape_next(v->tape, queues, q, NULL))
        add_queue(v, &table, q);
    bool any = table.count > 0;
    if (any) text_table_print(&table, v->out, v->view->width, v->view->colours);
    text_table_clear(&table);
    return any;
}

void status_view_print_queues(const struct tape *tape, size_t at, FILE *out, const struct status_view *view)
{
    struct viewer v = {.tape = tape, .view = view, .out = out};
    if (!print_queues(&v, tape_field(tape, at, STR("queues")))) fputs("no queues\n", out);
    viewer_clear(&v);
}

/* --- leases */

static void print_leases(struct viewer *v, size_t leases)
{
    static const struct text_column columns[] = {{"LEASE", false}, {"LEADER", false}, {"HOLDER", false},
                                                 {"AGE", true},    {"RENEWED", true}, {NULL, false}};
    struct text_table table = {.columns = columns};
    for (size_t l = tape_first(v->tape, leases, NULL); l; l = tape_next(v->tape, leases, l, NULL)) {
        bool leads = viewer_bool(v, l, "leader");
        struct buf me = {0}, cause = {0};
        buf_printf(viewer_cell(v, 0), "%.*s/%.*s", STR_ARG(viewer_text(v, l, "namespace")),
                   STR_ARG(viewer_text(v, l, "name")));
        viewer_put_text(v, 1, leads ? STR("this process") : STR("no"));
        viewer_put_text(v, 2, viewer_text(v, l, "holder"));
        viewer_put_age(v, 3, l, "since");
        viewer_put_age(v, 4, l, "renewed");
        viewer_add_row(v, &table);
        text_table_tint(&table, 1, leads ? TINT_GOOD : TINT_WAITING);
        buf_str(&cause, viewer_text(v, l, "cause"));
        if (!leads) buf_printf(&me, "this process is %.*s", STR_ARG(viewer_text(v, l, "identity")));
        text_table_note(&table, buf_text(&me));
        text_table_add_note(&table, buf_text(&cause));
        buf_clear(&cause);
        buf_clear(&me);
    }
    viewer_print_table(v, &table);
}

/* --- all of it */

void status_view_print(const struct tape *tape, size_t at, FILE *out, const struct status_view *view)
{
    struct viewer v = {.tape = tape, .view = view, .out = out};
    size_t engine = tape_field(tape, at, STR("engine"));
    v.now_s = viewer_time(&v, engine, "now");
    print_engine(&v, engine);
    status_audit_print(&v, tape_field(tape, at, STR("audit")));
    print_scripts(&v, tape_field(tape, at, STR("scripts")));
    print_leases(&v, tape_field(tape, at, STR("leases")));
    status_informers_print(&v, tape_field(tape, at, STR("informers")));
    size_t queues = tape_field(tape, at, STR("queues"));
    if (tape_first(tape, queues, NULL)) fputc('\n', out);
    print_queues(&v, queues);
    status_timers_print(&v, tape_field(tape, at, STR("timers")));
    viewer_clear(&v);
}
