/* Fields and cells of an engine's answer; see status_viewer.h. */
#include "app/status/status_viewer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

struct str viewer_text(const struct viewer *v, size_t at, const char *key)
{
    return tape_str(v->tape, tape_field(v->tape, at, str_of(key)));
}

int64_t viewer_int(const struct viewer *v, size_t at, const char *key)
{
    return tape_int(v->tape, tape_field(v->tape, at, str_of(key)), 0);
}

bool viewer_bool(const struct viewer *v, size_t at, const char *key)
{
    return tape_bool(v->tape, tape_field(v->tape, at, str_of(key)), false);
}

int64_t viewer_time(const struct viewer *v, size_t at, const char *key)
{
    struct buf text = {0};
    struct tm tm = {0};
    buf_str(&text, viewer_text(v, at, key));
    bool ok = text.len && strptime(buf_text(&text), "%Y-%m-%dT%H:%M:%SZ", &tm);
    buf_clear(&text);
    return ok ? (int64_t)timegm(&tm) : 0;
}

struct buf *viewer_cell(struct viewer *v, size_t column)
{
    v->cells[column].len = 0;
    return &v->cells[column];
}

void viewer_put_age(struct viewer *v, size_t column, size_t at, const char *key)
{
    int64_t then = viewer_time(v, at, key);
    struct buf *out = viewer_cell(v, column);
    if (then)
        text_duration(v->now_s - then, out);
    else
        buf_putc(out, '-');
}

void viewer_put_int(struct viewer *v, size_t column, int64_t n)
{
    buf_printf(viewer_cell(v, column), "%" PRId64, n);
}

void viewer_put_text(struct viewer *v, size_t column, struct str text)
{
    buf_str(viewer_cell(v, column), text.n ? text : STR("-"));
}

void viewer_add_row(struct viewer *v, struct text_table *table)
{
    const char *cells[TEXT_TABLE_COLUMNS];
    for (size_t i = 0; table->columns[i].heading; i++) cells[i] = buf_text(&v->cells[i]);
    text_table_add(table, cells);
}

void viewer_print_table(struct viewer *v, struct text_table *table)
{
    if (table->count) {
        fputc('\n', v->out);
        text_table_print(table, v->out, v->view->width, v->view->colours);
    }
    text_table_clear(table);
}

void viewer_print_line(struct viewer *v, const char *heading, struct buf *line)
{
    char *text = text_printable(buf_text(line));
    if (*text) fprintf(v->out, "%s: %s\n", heading, text);
    free(text);
    line->len = 0;
}

void viewer_clear(struct viewer *v)
{
    for (size_t i = 0; i < TEXT_TABLE_COLUMNS; i++) buf_clear(&v->cells[i]);
}
