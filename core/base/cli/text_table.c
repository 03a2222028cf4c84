/* Tables for people; see text_table.h. */
#include "base/cli/text_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* The first column is never made narrower than FIRST_MIN for the others to be seen. */
enum { GAP = 2, NOTE_INDENT = 4, FIRST_MIN = 16 };

struct text_row {
    char *cells[TEXT_TABLE_COLUMNS];
    enum tint tints[TEXT_TABLE_COLUMNS];
    char **notes;
    size_t note_count;
};

/* Characters, as a terminal counts most of them. */
static size_t length(const char *text)
{
    size_t n = 0;
    for (; *text; text++) n += (*text & 0xc0) != 0x80;
    return n;
}

char *text_printable(const char *text)
{
    char *copy = xstrdup(text);
    for (char *p = copy; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f) *p = ' ';
    return copy;
}

void text_table_add(struct text_table *table, const char *const *cells)
{
    struct text_row *row = array_add(table->rows, table->count);
    *row = (struct text_row){0};
    for (size_t i = 0; table->columns[i].heading; i++) row->cells[i] = text_printable(cells[i]);
}

void text_table_tint(struct text_table *table, size_t column, enum tint tint)
{
    table->rows[table->count - 1].tints[column] = tint;
}

static void drop_notes(struct text_row *row)
{
    for (size_t i = 0; i < row->note_count; i++) free(row->notes[i]);
    row->note_count = 0;
}

void text_table_note(struct text_table *table, const char *text)
{
    drop_notes(&table->rows[table->count - 1]);
    text_table_add_note(table, text);
}

void text_table_add_note(struct text_table *table, const char *text)
{
    struct text_row *row = &table->rows[table->count - 1];
    if (!*text) return;
    *array_add(row->notes, row->note_count) = text_printable(text);
}

static void measure(const struct text_table *table, size_t *widths)
{
    for (size_t i = 0; table->columns[i].heading; i++) {
        widths[i] = length(table->columns[i].heading);
        for (size_t r = 0; r < table->count; r++) {
            size_t n = length(table->rows[r].cells[i]);
            if (n > widths[i]) widths[i] = n;
        }
    }
}

/* Makes the first column so narrow that the others are seen. */
static void shrink_first(const struct text_table *table, size_t *widths, size_t width)
{
    size_t others = 0;
    for (size_t i = 1; table->columns[i].heading; i++) others += GAP + widths[i];
    size_t room = width > others + FIRST_MIN ? width - others : FIRST_MIN;
    if (width && widths[0] > room) widths[0] = room;
}

/* A line under way: what is beyond the width is not printed, and "..." says so. */
struct line {
    FILE *out;
    size_t used, width;
};

static size_t bytes_of(const char *text, size_t characters)
{
    size_t i = 0;
    for (; text[i]; i++)
        if ((text[i] & 0xc0) != 0x80 && characters-- == 0) break;
    return i;
}

static void put(struct line *line, const char *text)
{
    size_t n = length(text), room = line->width > line->used ? line->width - line->used : 0;
    if (line->width == 0 || n <= room)
        fputs(text, line->out);
    else if (room > 3)
        fprintf(line->out, "%.*s...", (int)bytes_of(text, room - 3), text);
    line->used += n;
}

static void put_blanks(struct line *line, size_t n)
{
    for (; n > 0; n--) put(line, " ");
}

static void put_cell(struct line *line, const char *text, enum tint tint, bool colours)
{
    static const char *const codes[] = {"", "\033[32m", "\033[31m", "\033[33m"};
    if (colours && tint) fputs(codes[tint], line->out);
    put(line, text);
    if (colours && tint) fputs("\033[0m", line->out);
}

/* Nothing is put behind the last cell of a line. A first cell that is wider than its column has a line of its
 * own. */
static void print_row(const struct text_table *table, const size_t *widths, const struct text_row *row,
                      struct line *line, bool colours)
{
    for (size_t i = 0; table->columns[i].heading; i++) {
        const char *text = row ? row->cells[i] : table->columns[i].heading;
        bool last = !table->columns[i + 1].heading;
        if (length(text) > widths[i]) {
            put_cell(line, text, row->tints[i], colours);
            fputc('\n', line->out);
            line->used = 0;
            text = "";
        }
        size_t blanks = widths[i] - length(text);
        if (table->columns[i].right) put_blanks(line, blanks);
        put_cell(line, text, row ? row->tints[i] : TINT_NONE, colours);
        if (!table->columns[i].right && !last) put_blanks(line, blanks);
        if (!last) put_blanks(line, GAP);
    }
    fputc('\n', line->out);
}

void text_table_print(const struct text_table *table, FILE *out, size_t width, bool colours)
{
    size_t widths[TEXT_TABLE_COLUMNS];
    measure(table, widths);
    shrink_first(table, widths, width);
    print_row(table, widths, NULL, &(struct line){out, 0, width}, colours);
    for (size_t r = 0; r < table->count; r++) {
        const struct text_row *row = &table->rows[r];
        print_row(table, widths, row, &(struct line){out, 0, width}, colours);
        for (size_t i = 0; i < row->note_count; i++) {
            struct line line = {out, 0, width};
            put_blanks(&line, NOTE_INDENT);
            put(&line, row->notes[i]);
            fputc('\n', out);
        }
    }
}

void text_table_clear(struct text_table *table)
{
    for (size_t r = 0; r < table->count; r++) {
        for (size_t i = 0; table->columns[i].heading; i++) free(table->rows[r].cells[i]);
        drop_notes(&table->rows[r]);
        free(table->rows[r].notes);
    }
    free(table->rows);
    table->rows = NULL;
    table->count = 0;
}

void text_duration(int64_t seconds, struct buf *out)
{
    static const struct {
        int64_t seconds;
        char letter;
    } units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
    if (seconds <= 0) buf_puts(out, "0s");
    int shown = 0;
    for (size_t i = 0; i < ARRAY_LEN(units) && seconds > 0 && shown < 2; i++) {
        int64_t n = seconds / units[i].seconds;
        if (n == 0 && shown == 0) continue;
        if (n > 0) buf_printf(out, "%" PRId64 "%c", n, units[i].letter);
        seconds %= units[i].seconds;
        shown++;
    }
}

void text_bytes(int64_t bytes, struct buf *out)
{
    static const char *const units[] = {"", "Ki", "Mi", "Gi", "Ti"};
    double n = (double)bytes;
    size_t unit = 0;
    while (n >= 1024 && unit + 1 < ARRAY_LEN(units)) {
        n /= 1024;
        unit++;
    }
    buf_printf(out, unit && n < 100 ? "%.1f%s" : "%.0f%s", n, units[unit]);
}
