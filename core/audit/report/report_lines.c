/* Lines of the table report; see report_lines.h. */
#include "audit/report/report_lines.h"

#include "base/text/terminal.h"

const char *const lines_severity_colours[] = {LINES_DIM, "\033[36m", "\033[33m", LINES_RED, "\033[1;31m"};

const char *lines_colour(const struct report_lines *r, const char *colour)
{
    return r->options->colours ? colour : "";
}

void lines_end(struct report_lines *r)
{
    fputc('\n', r->out);
    r->column = 0;
}

void lines_blanks_to(struct report_lines *r, size_t column)
{
    if (column > r->column) fprintf(r->out, "%*s", (int)(column - r->column), "");
    if (column > r->column) r->column = column;
}

void lines_put(struct report_lines *r, const char *colour, struct str text)
{
    fprintf(r->out, "%s%.*s%s", lines_colour(r, colour), STR_ARG(text),
            *colour ? lines_colour(r, LINES_RESET) : "");
    r->column += terminal_columns(text);
}

void lines_put_wrapped(struct report_lines *r, const char *colour, struct str text, size_t at)
{
    struct str line;
    size_t width = r->options->width;
    size_t room = width == 0 ? SIZE_MAX : width > r->column ? width - r->column : 0;
    while (terminal_wrap(&text, room, &line)) {
        lines_put(r, colour, line);
        if (text.n == 0) break;
        lines_end(r);
        lines_blanks_to(r, at);
        room = width > at ? width - at : 0;
    }
}

void lines_put_part(struct report_lines *r, const char *colour, struct str text, size_t at)
{
    size_t width = r->options->width;
    if (width && r->column > at && r->column + LINES_GAP + terminal_columns(text) > width) {
        lines_end(r);
        lines_blanks_to(r, at);
    } else if (r->column > at) {
        lines_blanks_to(r, r->column + LINES_GAP);
    }
    lines_put_wrapped(r, colour, text, at);
}

struct str lines_fit(struct report_lines *r, struct str text)
{
    r->piece.len = 0;
    terminal_put(&r->piece, text);
    return buf_slice(&r->piece);
}
