/* Rows in columns for people, as kubectl prints them: each as wide as its widest cell, and notes below rows.
 * Owner: text_table_clear frees what it copied. Zero-initialised but for `columns`. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"

enum { TEXT_TABLE_COLUMNS = 12 };

enum tint { TINT_NONE, TINT_GOOD, TINT_BAD, TINT_WAITING };

struct text_column {
    const char *heading; /* NULL ends the columns */
    bool right;          /* numbers */
};

struct text_table {
    const struct text_column *columns;
    struct text_row *rows;
    size_t count;
};

/* `cells` has one text for each column; copied. */
void text_table_add(struct text_table *table, const char *const *cells);
/* Colours the cell of the last row; seen on a terminal only. */
void text_table_tint(struct text_table *table, size_t column, enum tint tint);
/* The line below the last row; an empty one is left out. */
void text_table_note(struct text_table *table, const char *text);
/* One more. */
void text_table_add_note(struct text_table *table, const char *text);
/* `width` cuts notes, and lines that would break, but for long cells of the first column, which get lines of
 * their own; 0: whatever they take. */
void text_table_print(const struct text_table *table, FILE *out, size_t width, bool colours);
void text_table_clear(struct text_table *table);

/* A copy for the caller. Texts come from a server too: none of them moves the cursor or begins a line. */
char *text_printable(const char *text);
/* "3h12m", "45s", "12d": at most two units. */
void text_duration(int64_t seconds, struct buf *out);
/* "98.4Mi", "512". */
void text_bytes(int64_t bytes, struct buf *out);
