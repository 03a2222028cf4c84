/* Lines of the table report for people: coloured if wanted, and broken at the width of the terminal. Owner:
 * the caller, which clears `piece`. On any one thread. */
#pragma once
#include <stddef.h>
#include <stdio.h>

#include "audit/report/report.h"
#include "base/buf.h"

enum { LINES_GAP = 2, LINES_INDENT = 2 };

#define LINES_RED   "\033[31m"
#define LINES_RESET "\033[0m"
#define LINES_BOLD  "\033[1m"
#define LINES_DIM   "\033[2m"
#define LINES_GREEN "\033[32m"

extern const char *const lines_severity_colours[];

struct report_lines {
    const struct report_options *options;
    FILE *out;
    size_t column;    /* of the cursor */
    struct buf piece; /* next part to be written, safe for a terminal */
};

/* Returns `colour`, or "" without colours. */
const char *lines_colour(const struct report_lines *r, const char *colour);
void lines_end(struct report_lines *r);
void lines_blanks_to(struct report_lines *r, size_t column);
void lines_put(struct report_lines *r, const char *colour, struct str text);
/* Prints a text that breaks at the width; further lines are indented to `at`. */
void lines_put_wrapped(struct report_lines *r, const char *colour, struct str text, size_t at);
/* Prints a part after the current one, or on a new line if there is no room for it. */
void lines_put_part(struct report_lines *r, const char *colour, struct str text, size_t at);
/* Makes `text` safe for terminals and returns it; it borrows from `piece`. */
struct str lines_fit(struct report_lines *r, struct str text);

/* --- Totals of an audit at the end of the table report. Owner: everything is borrowed. On any one thread. */

void report_totals(struct report_lines *r, const struct audit_table *table);
