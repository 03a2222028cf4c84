/* Writing lines that people read: in colours where these are wanted, and broken at the width
 * of the terminal: of the table report. Owner: the caller, who clears `piece`. On any one thread. */
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
    size_t column;    /* where the cursor is */
    struct buf piece; /* what is about to be written, fit for a terminal */
};

/* `colour`, or nothing where there are none. */
const char *lines_colour(const struct report_lines *r, const char *colour);
void lines_end(struct report_lines *r);
void lines_blanks_to(struct report_lines *r, size_t column);
void lines_put(struct report_lines *r, const char *colour, struct str text);
/* A text that breaks at the width, and goes on below `at`. */
void lines_put_wrapped(struct report_lines *r, const char *colour, struct str text, size_t at);
/* Behind what there is, or on a line of its own where that has no room for it. */
void lines_put_part(struct report_lines *r, const char *colour, struct str text, size_t at);
/* Makes `text` safe for terminals and returns it as `piece` holds it. */
struct str lines_fit(struct report_lines *r, struct str text);

/* --- Totals of an audit at the end of the table report. Owner: all is borrowed. On any one thread. */

void report_totals(struct report_lines *r, const struct audit_table *table);
