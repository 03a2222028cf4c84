/* The table of informers of `kubelua status`; see status_viewer.h. */
#include <inttypes.h>

#include "app/status/status_viewer.h"

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
    struct buf *out = viewer_cell(v, column);
    for (size_t s = tape_first(v->tape, list, NULL); s; s = tape_next(v->tape, list, s, NULL))
        buf_printf(out, "%s%.*s", out->len ? "," : "", STR_ARG(tape_str(v->tape, s)));
}

/* How it got its list, if the column does not say all of it, and until when the server counts as one that
 * does not do watch-lists. */
static void put_how(const struct viewer *v, size_t at, struct buf *out)
{
    struct str how = viewer_text(v, at, "syncedHow");
    int64_t until = viewer_time(v, at, "noWatchListUntil");
    if (!str_eq(how, viewer_text(v, at, "syncedBy"))) buf_str(out, how);
    if (until <= v->now_s) return;
    buf_printf(out, "%swatch-list disabled for ", out->len ? "; " : "");
    text_duration(until - v->now_s, out);
}

/* Why it is not as it should be, or what it lacks; else, when there is room, how it came to its list. */
static void note(struct viewer *v, struct text_table *table, size_t at)
{
    struct buf text = {0};
    struct str cause = viewer_text(v, at, "cause");
    int64_t refused = viewer_int(v, at, "refused"), dropped = viewer_int(v, at, "transformDropped");
    if (cause.n)
        buf_str(&text, cause);
    else if (refused)
        buf_printf(&text, "objects were refused, %" PRId64 " in all: see the log", refused);
    else if (v->view->wide)
        put_how(v, at, &text);
    if (!cause.n && dropped && (v->view->wide || viewer_int(v, at, "objects") == 0))
        buf_printf(&text, "%sobjects were dropped by the transform, %" PRId64 " in all", text.len ? "; " : "",
                   dropped);
    text_table_note(table, buf_text(&text));
    buf_clear(&text);
}

/* `part`: of a set of namespaces, below the row of the whole. */
static void add_row_of(struct viewer *v, struct text_table *table, size_t at, bool part)
{
    struct str state = viewer_text(v, at, "state");
    bool known = part || viewer_text(v, at, "resource").n > 0;
    buf_printf(viewer_cell(v, 0), "%s%.*s", part ? "  " : "", STR_ARG(viewer_text(v, at, "name")));
    viewer_put_text(v, COLUMN_STATE, state);
    viewer_put_age(v, 2, at, "since");
    viewer_put_int(v, 3, viewer_int(v, at, "objects"));
    text_bytes(viewer_int(v, at, "bytes"), viewer_cell(v, 4));
    viewer_put_text(v, 5, viewer_text(v, at, "syncedBy"));
    viewer_put_age(v, 6, at, "heard");
    viewer_put_int(v, 7, viewer_int(v, at, "watches") + viewer_int(v, at, "watchLists"));
    viewer_put_int(v, 8, viewer_int(v, at, "events"));
    viewer_put_text(v, 9, viewer_text(v, at, "resourceVersion"));
    put_scripts(v, 10, at);
    for (size_t i = 3; i < 5 && !known; i++) viewer_put_text(v, i, (struct str){0});
    viewer_add_row(v, table);
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

void status_informers_print(struct viewer *v, size_t informers)
{
    struct text_table table = {.columns = v->view->wide ? columns_wide : columns_narrow};
    for (size_t i = tape_first(v->tape, informers, NULL); i; i = tape_next(v->tape, informers, i, NULL))
        add_informer(v, &table, i);
    viewer_print_table(v, &table);
}
