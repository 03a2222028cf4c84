/* Tables of what commands return; see call_view.h. */
#include "app/cmd/call_view.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli/text_table.h"
#include "base/mem.h"
#include "object/parse/document.h"

enum { GAP = 2, COLUMNS_MAX = 64 };

struct grid {
    char **cells; /* row by row; NULL: empty */
    size_t columns, rows;
};

static char *printable(struct str text)
{
    char *copy = xstrndup(text.p, text.n), *shown = text_printable(copy);
    free(copy);
    return shown;
}

/* A text is itself; null is nothing. */
static char *cell_text(const struct tape *tape, size_t at)
{
    struct buf out = {0};
    if (tape_type(tape, at) == '"') return printable(tape_str(tape, at));
    if (tape_type(tape, at) != 'n') document_compact(tape, at, &out);
    char *shown = text_printable(buf_text(&out));
    buf_clear(&out);
    return shown;
}

static char **new_row(struct grid *grid)
{
    grid->cells = xrealloc(grid->cells, (grid->rows + 1) * grid->columns * sizeof *grid->cells);
    char **row = grid->cells + grid->rows++ * grid->columns;
    memset(row, 0, grid->columns * sizeof *row);
    return row;
}

/* --- columns of maps */

struct columns {
    struct str names[COLUMNS_MAX];
    size_t count;
};

/* What tells rows apart comes first, then the others by name. */
static int rank(struct str name)
{
    return str_is(name, "namespace") ? 0 : str_is(name, "name") ? 1 : 2;
}

static int compare(const void *a, const void *b)
{
    const struct str *x = a, *y = b;
    return rank(*x) != rank(*y) ? rank(*x) - rank(*y) : str_cmp(*x, *y);
}

static size_t column_of(const struct columns *columns, struct str name)
{
    size_t i = 0;
    while (i < columns->count && !str_eq(columns->names[i], name)) i++;
    return i;
}

static void add_columns(const struct tape *tape, size_t map, struct columns *columns)
{
    struct str name;
    for (size_t v = tape_first(tape, map, &name); v; v = tape_next(tape, map, v, &name))
        if (columns->count < COLUMNS_MAX && column_of(columns, name) == columns->count)
            columns->names[columns->count++] = name;
}

static char *heading(struct str name)
{
    char *shown = printable(name);
    for (char *p = shown; *p; p++) *p = (char)toupper((unsigned char)*p);
    return shown;
}

/* Rows are the maps in `at`; of a map of maps their keys come first. */
static void fill_maps(const struct tape *tape, size_t at, struct grid *grid)
{
    struct columns columns = {0};
    struct str key, field;
    struct str *keys = tape_type(tape, at) == '{' ? &key : NULL;
    size_t own = keys != NULL;
    for (size_t v = tape_first(tape, at, NULL); v; v = tape_next(tape, at, v, NULL))
        add_columns(tape, v, &columns);
    qsort(columns.names, columns.count, sizeof *columns.names, compare);
    grid->columns = own + columns.count;
    if (!grid->columns) return;
    char **row = new_row(grid);
    if (own) row[0] = xstrdup("KEY");
    for (size_t i = 0; i < columns.count; i++) row[own + i] = heading(columns.names[i]);
    for (size_t v = tape_first(tape, at, keys); v; v = tape_next(tape, at, v, keys)) {
        row = new_row(grid);
        if (own) row[0] = printable(key);
        for (size_t c = tape_first(tape, v, &field); c; c = tape_next(tape, v, c, &field)) {
            size_t i = column_of(&columns, field);
            if (i < columns.count) row[own + i] = cell_text(tape, c);
        }
    }
}

/* --- other rows */

static void fill_arrays(const struct tape *tape, size_t at, struct grid *grid)
{
    for (size_t v = tape_first(tape, at, NULL); v; v = tape_next(tape, at, v, NULL)) {
        size_t n = 0;
        for (size_t c = tape_first(tape, v, NULL); c; c = tape_next(tape, v, c, NULL)) n++;
        if (n > grid->columns) grid->columns = n < COLUMNS_MAX ? n : COLUMNS_MAX;
    }
    for (size_t v = tape_first(tape, at, NULL); v && grid->columns; v = tape_next(tape, at, v, NULL)) {
        char **row = new_row(grid);
        size_t i = 0;
        for (size_t c = tape_first(tape, v, NULL); c && i < grid->columns; c = tape_next(tape, v, c, NULL))
            row[i++] = cell_text(tape, c);
    }
}

static void fill_values(const struct tape *tape, size_t at, struct grid *grid)
{
    struct str key;
    bool is_map = tape_type(tape, at) == '{';
    struct str *keys = is_map ? &key : NULL;
    grid->columns = is_map ? 2 : 1;
    for (size_t v = tape_first(tape, at, keys); v; v = tape_next(tape, at, v, keys)) {
        char **row = new_row(grid);
        if (is_map) row[0] = printable(key);
        row[is_map] = cell_text(tape, v);
    }
}

static bool all_are(const struct tape *tape, size_t at, char type)
{
    for (size_t v = tape_first(tape, at, NULL); v; v = tape_next(tape, at, v, NULL))
        if (tape_type(tape, v) != type) return false;
    return true;
}

/* --- layout */

/* Characters, as a terminal counts most of them. */
static size_t width_of(const char *text)
{
    size_t n = 0;
    for (; text && *text; text++) n += (*text & 0xc0) != 0x80;
    return n;
}

static void print(const struct grid *grid, struct buf *out)
{
    size_t widths[COLUMNS_MAX + 1] = {0};
    for (size_t i = 0; i < grid->rows * grid->columns; i++) {
        size_t width = width_of(grid->cells[i]), *most = &widths[i % grid->columns];
        if (width > *most) *most = width;
    }
    for (size_t i = 0; i < grid->rows * grid->columns; i++) {
        size_t column = i % grid->columns, pad = widths[column] - width_of(grid->cells[i]) + GAP;
        if (grid->cells[i]) buf_puts(out, grid->cells[i]);
        if (column + 1 < grid->columns) {
            while (pad--) buf_putc(out, ' ');
            continue;
        }
        while (out->len && out->data[out->len - 1] == ' ') out->len--;
        buf_putc(out, '\n');
    }
}

void call_view_table(const struct tape *tape, size_t at, struct buf *out)
{
    struct grid grid = {0};
    if (all_are(tape, at, '{') && tape_first(tape, at, NULL))
        fill_maps(tape, at, &grid);
    else if (tape_type(tape, at) == '[' && all_are(tape, at, '['))
        fill_arrays(tape, at, &grid);
    else
        fill_values(tape, at, &grid);
    print(&grid, out);
    for (size_t i = 0; i < grid.rows * grid.columns; i++) free(grid.cells[i]);
    free(grid.cells);
}
