/* Tables of `kubelua status`; see status_view.h. */
#include "app/status_view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/text_table.h"
#include "base/buf.h"
#include "base/mem.h"

struct viewer {
    const struct tape *tape;
    const struct status_view *view;
    FILE *out;
    int64_t now_s;
    struct buf cells[TEXT_TABLE_COLUMNS];
};

static struct str text_at(const struct viewer *v, size_t at, const char *key)
{
    return tape_str(v->tape, tape_field(v->tape, at, str_of(key)));
}

static int64_t int_at(const struct viewer *v, size_t at, const char *key)
{
    return tape_int(v->tape, tape_field(v->tape, at, str_of(key)), 0);
}

static bool bool_at(const struct viewer *v, size_t at, const char *key)
{
    return tape_bool(v->tape, tape_field(v->tape, at, str_of(key)), false);
}

/* Seconds since the epoch; 0 when there is none. */
static int64_t time_at(const struct viewer *v, size_t at, const char *key)
{
    struct buf text = {0};
    struct tm tm = {0};
    buf_str(&text, text_at(v, at, key));
    bool ok = text.len && strptime(buf_text(&text), "%Y-%m-%dT%H:%M:%SZ", &tm);
    buf_clear(&text);
    return ok ? (int64_t)timegm(&tm) : 0;
}

/* --- cells */

static struct buf *cell(struct viewer *v, size_t column)
{
    v->cells[column].len = 0;
    return &v->cells[column];
}

static void put_age(struct viewer *v, size_t column, size_t at, const char *key)
{
    int64_t then = time_at(v, at, key);
    struct buf *out = cell(v, column);
    if (then)
        text_duration(v->now_s - then, out);
    else
        buf_putc(out, '-');
}

static void put_int(struct viewer *v, size_t column, int64_t n)
{
    buf_printf(cell(v, column), "%" PRId64, n);
}

static void put_text(struct viewer *v, size_t column, struct str text)
{
    buf_str(cell(v, column), text.n ? text : STR("-"));
}

static void add_row(struct viewer *v, struct text_table *table)
{
    const char *cells[TEXT_TABLE_COLUMNS];
    for (size_t i = 0; table->columns[i].heading; i++) cells[i] = buf_text(&v->cells[i]);
    text_table_add(table, cells);
}

/* --- the engine */

/* Without it the kinds are not known, and every informer waits. */
static void print_discovery(struct viewer *v, size_t at)
{
    struct buf line = {0};
    int64_t asking = time_at(v, at, "discoveryAsking");
    buf_str(&line, text_at(v, at, "discoveryError"));
    if (asking) {
        buf_puts(&line, line.len ? "; asking again for " : "asking the server which kinds it has for ");
        text_duration(v->now_s - asking, &line);
    }
    char *text = text_printable(buf_text(&line));
    if (*text) fprintf(v->out, "discovery: %s\n", text);
    free(text);
    buf_clear(&line);
}

static void print_engine(struct viewer *v, size_t at)
{
    struct buf uptime = {0}, memory = {0};
    bool ready = bool_at(v, at, "ready");
    const char *on = !v->view->colours ? "" : ready ? "\033[32m" : "\033[31m";
    struct str metrics = text_at(v, at, "metricsAddress"), health = text_at(v, at, "healthAddress");
    text_duration(v->now_s - time_at(v, at, "started"), &uptime);
    text_bytes(int_at(v, at, "memoryBytes"), &memory);
    fprintf(v->out, "kubelua %.*s  %s%s%s  pid %" PRId64 "  up %s  memory %s  cpu %.1fs\n",
            STR_ARG(text_at(v, at, "version")), on, ready ? "ready" : "not ready", *on ? "\033[0m" : "",
            int_at(v, at, "pid"), buf_text(&uptime), buf_text(&memory),
            (double)int_at(v, at, "cpuMilliseconds") / 1000);
    fprintf(v->out, "cluster %.*s (%.*s)\n", STR_ARG(text_at(v, at, "server")),
            STR_ARG(text_at(v, at, "source")));
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

static void put_pending(const struct viewer *v, size_t at, struct buf *out)
{
    size_t handlers = tape_field(v->tape, at, STR("eventHandlers"));
    const char *before = out->len ? "; pending: " : "pending: ";
    for (size_t h = tape_first(v->tape, handlers, NULL); h; h = tape_next(v->tape, handlers, h, NULL)) {
        if (!int_at(v, h, "pending")) continue;
        buf_printf(out, "%s%.*s %" PRId64, before, STR_ARG(text_at(v, h, "id")), int_at(v, h, "pending"));
        before = ", ";
    }
}

/* What main waits for, or why it failed; in the wide form also which calls failed, and which handlers lag. */
static void note_script(struct viewer *v, struct text_table *table, size_t at)
{
    struct buf text = {0};
    struct str state = text_at(v, at, "mainState");
    bool failed = str_is(state, "failed");
    if (failed) text_table_tint(table, COLUMN_MAIN, TINT_BAD);
    if (failed || str_is(state, "waiting")) buf_printf(&text, "main: %.*s", STR_ARG(text_at(v, at, "main")));
    if (v->view->wide) {
        put_errors(v, at, &text);
        put_pending(v, at, &text);
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
        put_text(v, 0, text_at(v, s, "name"));
        put_text(v, COLUMN_MAIN, text_at(v, s, "mainState"));
        put_int(v, 2, int_at(v, s, "handlers"));
        put_int(v, 3, int_at(v, s, "pending"));
        put_int(v, 4, int_at(v, s, "adds"));
        put_int(v, 5, int_at(v, s, "updates"));
        put_int(v, 6, int_at(v, s, "deletes"));
        put_int(v, COLUMN_ERRORS, int_at(v, s, "errors"));
        text_bytes(int_at(v, s, "memoryBytes"), cell(v, 8));
        add_row(v, &table);
        if (int_at(v, s, "errors")) text_table_tint(&table, COLUMN_ERRORS, TINT_BAD);
        note_script(v, &table, s);
    }
    if (table.count) {
        fputc('\n', v->out);
        text_table_print(&table, v->out, v->view->width, v->view->colours);
    }
    text_table_clear(&table);
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

static void add_queue(struct viewer *v, struct text_table *table, size_t at)
{
    static const char *const numbers[] = {"workers", "depth",   "delayed", "processing",
                                          "failing", "retries", "dropped", "adds"};
    put_text(v, 0, text_at(v, at, "name"));
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) put_int(v, i + 1, int_at(v, at, numbers[i]));
    text_duration(int_at(v, at, "longestMilliseconds") / 1000, cell(v, 9));
    put_text(v, 10, text_at(v, at, "script"));
    add_row(v, table);
    if (int_at(v, at, "failing")) text_table_tint(table, 5, TINT_WAITING);
    if (int_at(v, at, "dropped")) text_table_tint(table, 7, TINT_BAD);
    if (bool_at(v, at, "shutDown")) text_table_note(table, "shut down");
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

static void clear_cells(struct viewer *v)
{
    for (size_t i = 0; i < TEXT_TABLE_COLUMNS; i++) buf_clear(&v->cells[i]);
}

void status_view_print_queues(const struct tape *tape, size_t at, FILE *out, const struct status_view *view)
{
    struct viewer v = {.tape = tape, .view = view, .out = out};
    if (!print_queues(&v, tape_field(tape, at, STR("queues")))) fputs("no queues\n", out);
    clear_cells(&v);
}

/* --- leases */

static void print_leases(struct viewer *v, size_t leases)
{
    static const struct text_column columns[] = {
        {"LEASE", false}, {"LEADER", false}, {"HOLDER", false}, {"AGE", true}, {NULL, false}};
    struct text_table table = {.columns = columns};
    for (size_t l = tape_first(v->tape, leases, NULL); l; l = tape_next(v->tape, leases, l, NULL)) {
        bool leads = bool_at(v, l, "leader");
        struct buf cause = {0};
        buf_printf(cell(v, 0), "%.*s/%.*s", STR_ARG(text_at(v, l, "namespace")),
                   STR_ARG(text_at(v, l, "name")));
        put_text(v, 1, leads ? STR("this process") : STR("no"));
        put_text(v, 2, text_at(v, l, "holder"));
        put_age(v, 3, l, "since");
        add_row(v, &table);
        text_table_tint(&table, 1, leads ? TINT_GOOD : TINT_WAITING);
        buf_str(&cause, text_at(v, l, "cause"));
        text_table_note(&table, buf_text(&cause));
        buf_clear(&cause);
    }
    if (table.count) {
        fputc('\n', v->out);
        text_table_print(&table, v->out, v->view->width, v->view->colours);
    }
    text_table_clear(&table);
}

/* --- informers */

enum { COLUMN_STATE = 1 };

static const struct text_column columns_wide[] = {
    {"INFORMER", false}, {"STATE", false},     {"AGE", true},      {"OBJECTS", true},
    {"MEMORY", true},    {"SYNCED BY", false}, {"HEARD", true},    {"WATCHES", true},
    {"EVENTS", true},    {"VERSION", false},   {"SCRIPTS", false}, {NULL, false},
};
static const struct text_column columns_narrow[] = {
    {"INFORMER", false}, {"STATE", false},     {"AGE", true},   {"OBJECTS", true},
    {"MEMORY", true},    {"SYNCED BY", false}, {"HEARD", true}, {NULL, false},
};

static enum tint tint_of(struct str state)
{
    if (str_is(state, "synced")) return TINT_GOOD;
    return str_is(state, "error") || str_is(state, "forbidden") || str_is(state, "unknown kind") ||
                   str_is(state, "gone")
               ? TINT_BAD
               : TINT_WAITING;
}

static void put_scripts(struct viewer *v, size_t column, size_t at)
{
    size_t list = tape_field(v->tape, at, STR("scripts"));
    struct buf *out = cell(v, column);
    for (size_t s = tape_first(v->tape, list, NULL); s; s = tape_next(v->tape, list, s, NULL))
        buf_printf(out, "%s%.*s", out->len ? "," : "", STR_ARG(tape_str(v->tape, s)));
}

/* How it got its list, if the column does not say all of it, and until when the server counts as one that
 * does not do watch-lists. */
static void put_how(const struct viewer *v, size_t at, struct buf *out)
{
    struct str how = text_at(v, at, "syncedHow");
    int64_t until = time_at(v, at, "noWatchListUntil");
    if (!str_eq(how, text_at(v, at, "syncedBy"))) buf_str(out, how);
    if (until <= v->now_s) return;
    buf_printf(out, "%sno watch-list is tried for ", out->len ? "; " : "");
    text_duration(until - v->now_s, out);
}

/* Why it is not as it should be, or what it lacks; else, when there is room, how it came to its list. */
static void note(struct viewer *v, struct text_table *table, size_t at)
{
    struct buf text = {0};
    struct str cause = text_at(v, at, "cause");
    int64_t refused = int_at(v, at, "refused"), dropped = int_at(v, at, "transformDropped");
    if (cause.n)
        buf_str(&text, cause);
    else if (refused)
        buf_printf(&text, "objects were refused, %" PRId64 " in all: see the log", refused);
    else if (v->view->wide)
        put_how(v, at, &text);
    if (!cause.n && dropped && (v->view->wide || int_at(v, at, "objects") == 0))
        buf_printf(&text, "%sobjects were dropped by the transform, %" PRId64 " in all", text.len ? "; " : "",
                   dropped);
    text_table_note(table, buf_text(&text));
    buf_clear(&text);
}

/* `part`: of a set of namespaces, below the row of the whole. */
static void add_row_of(struct viewer *v, struct text_table *table, size_t at, bool part)
{
    struct str state = text_at(v, at, "state");
    bool known = part || text_at(v, at, "resource").n > 0;
    buf_printf(cell(v, 0), "%s%.*s", part ? "  " : "", STR_ARG(text_at(v, at, "name")));
    put_text(v, COLUMN_STATE, state);
    put_age(v, 2, at, "since");
    put_int(v, 3, int_at(v, at, "objects"));
    text_bytes(int_at(v, at, "bytes"), cell(v, 4));
    put_text(v, 5, text_at(v, at, "syncedBy"));
    put_age(v, 6, at, "heard");
    put_int(v, 7, int_at(v, at, "watches") + int_at(v, at, "watchLists"));
    put_int(v, 8, int_at(v, at, "events"));
    put_text(v, 9, text_at(v, at, "resourceVersion"));
    put_scripts(v, 10, at);
    for (size_t i = 3; i < 5 && !known; i++) put_text(v, i, (struct str){0});
    add_row(v, table);
    text_table_tint(table, COLUMN_STATE, tint_of(state));
}

static void add_informer(struct viewer *v, struct text_table *table, size_t at)
{
    size_t parts = tape_field(v->tape, at, STR("parts"));
    add_row_of(v, table, at, false);
    if (!parts) note(v, table, at);
    for (size_t p = tape_first(v->tape, parts, NULL); p; p = tape_next(v->tape, parts, p, NULL)) {
        add_row_of(v, table, p, true);
        note(v, table, p);
    }
}

static void print_informers(struct viewer *v, size_t informers)
{
    struct text_table table = {.columns = v->view->wide ? columns_wide : columns_narrow};
    for (size_t i = tape_first(v->tape, informers, NULL); i; i = tape_next(v->tape, informers, i, NULL))
        add_informer(v, &table, i);
    if (table.count) {
        fputc('\n', v->out);
        text_table_print(&table, v->out, v->view->width, v->view->colours);
    }
    text_table_clear(&table);
}

void status_view_print(const struct tape *tape, size_t at, FILE *out, const struct status_view *view)
{
    struct viewer v = {.tape = tape, .view = view, .out = out};
    size_t engine = tape_field(tape, at, STR("engine"));
    v.now_s = time_at(&v, engine, "now");
    print_engine(&v, engine);
    print_scripts(&v, tape_field(tape, at, STR("scripts")));
    print_leases(&v, tape_field(tape, at, STR("leases")));
    print_informers(&v, tape_field(tape, at, STR("informers")));
    size_t queues = tape_field(tape, at, STR("queues"));
    if (tape_first(tape, queues, NULL)) fputc('\n', out);
    print_queues(&v, queues);
    clear_cells(&v);
}
