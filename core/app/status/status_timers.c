/* The table of timers of `kubelua status`; see status_viewer.h. */
#include "app/status/status_viewer.h"

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
