/* What the tables of `kubelua status` share: fields of the answer, and the cells of a row while it is made.
 * Owner: the one who prints; everything but the cells is borrowed, and viewer_clear frees these. */
#pragma once
#include "app/status/status_view.h"
#include "base/buf.h"
#include "base/cli/text_table.h"

struct viewer {
    const struct tape *tape;
    const struct status_view *view;
    FILE *out;
    int64_t now_s;
    struct buf cells[TEXT_TABLE_COLUMNS];
};

/* --- a field of the object at `at`; empty, 0 or false when it has none */

struct str viewer_text(const struct viewer *v, size_t at, const char *key);
int64_t viewer_int(const struct viewer *v, size_t at, const char *key);
bool viewer_bool(const struct viewer *v, size_t at, const char *key);
/* Seconds since the epoch. */
int64_t viewer_time(const struct viewer *v, size_t at, const char *key);

/* --- the row */

/* An empty cell to be filled. */
struct buf *viewer_cell(struct viewer *v, size_t column);
/* How long ago a time was. */
void viewer_put_age(struct viewer *v, size_t column, size_t at, const char *key);
void viewer_put_int(struct viewer *v, size_t column, int64_t n);
/* A dash in place of an empty one. */
void viewer_put_text(struct viewer *v, size_t column, struct str text);
/* The cells, as many as the table has columns. */
void viewer_add_row(struct viewer *v, struct text_table *table);

/* Below an empty line, unless there are no rows; the table is cleared. */
void viewer_print_table(struct viewer *v, struct text_table *table);
void viewer_clear(struct viewer *v);

/* "heading: what the line has"; nothing when it is empty. It is empty afterwards. */
void viewer_print_line(struct viewer *v, const char *heading, struct buf *line);

/* --- status_audit.c */

/* `audit`: what the answer says of continuous audits; 0: there are none. Rules with errors, and in the wide
 * form all. */
void status_audit_print(struct viewer *v, size_t audit);

/* --- status_reports.c */

/* `reports`: what the answer says of reports in the cluster; 0: none are written. */
void status_reports_print(struct viewer *v, size_t reports);

/* --- status_timers.c */

/* `timers`: the list of them in the answer. Schedules, and in the wide form the others too. */
void status_timers_print(struct viewer *v, size_t timers);

/* --- status_informers.c */

/* `informers`: the list of them in the answer. */
void status_informers_print(struct viewer *v, size_t informers);
