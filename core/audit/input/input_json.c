/* JSON: objects, Lists and arrays of them, one behind another. What fits into the window is cut by its
 * tokens; of all else the top level is read byte by byte (input_envelope.c), and the items of a list are cut
 * one by one. Whatever is wrong, each byte is read once or twice. */
#include <string.h>

#include "audit/input/input_envelope.h"

/* The value at whose bracket the window stands, as a part of a list or an array. False: nothing is left. */
static bool take_element(struct input_reader *r, const struct input_type *type)
{
    struct input_piece piece;
    size_t line = r->window.line;
    enum input_cut_result result = input_cut(&r->cut, &piece);
    if (result == CUT_WHOLE)
        input_take(r, &piece, type, line);
    else if (result == CUT_DAMAGED)
        input_take_damaged(r, piece.text, line);
    else
        input_refuse_cut(r, result, line);
    if (result == CUT_WHOLE || result == CUT_DAMAGED) input_window_use(&r->window, piece.text.n);
    return result != CUT_OPEN;
}

static bool element_expected(struct input_reader *r, const char *wanted)
{
    input_refuse_text(r, r->window.line, ERR_PARSE, "invalid JSON: %s expected", wanted);
    return false;
}

/* What is no object is told of and passed over, as far as a mark that may follow it. */
static bool pass_scalar(struct input_reader *r)
{
    int c, last = 0;
    bool in_string = false;
    input_refuse_text(r, r->window.line, ERR_PARSE, "an item that is no object");
    for (; (c = input_window_byte(&r->window, 0)) >= 0; last = last == '\\' && c == '\\' ? 0 : c) {
        if (c == '\n' || (!in_string && (c == ',' || c == ']' || c == '}'))) return true;
        if (c == '"' && last != '\\') in_string = !in_string;
        input_window_use(&r->window, 1);
    }
    return true;
}

bool input_read_elements(struct input_reader *r, const struct input_type *type, size_t line)
{
    struct input_window *w = &r->window;
    for (bool first = true; !r->stopped; first = false) {
        int c = input_window_skip_blanks(w);
        bool comma = c == ',';
        if (comma && !first) {
            input_window_use(w, 1);
            c = input_window_skip_blanks(w);
        }
        if (c < 0) {
            input_refuse_text(r, line, ERR_CLOSED, "the text ends inside of what begins here, at line %zu",
                              w->line);
            return false;
        }
        if (c == ']' && !(comma && !first)) {
            input_window_use(w, 1);
            return true;
        }
        if (c == '}' || c == ':' || c == ',' || c == ']')
            return element_expected(r, first ? "an item" : "another item");
        if (!first && !comma) element_expected(r, "',' or ']'");
        if (!first && !comma && c != '{') return false;
        if (!(c == '{' || c == '[' ? take_element(r, type) : pass_scalar(r))) return false;
    }
    return true;
}

/* --- documents */

/* Behind something broken: a line that begins with a bracket begins something else. */
static void skip_to_document(struct input_reader *r)
{
    int c;
    do {
        input_window_skip_line(&r->window);
        c = input_window_byte(&r->window, 0);
    } while (c >= 0 && c != '{' && c != '[' && c != '-');
}

static void read_object(struct input_reader *r)
{
    struct input_piece piece;
    size_t line = r->window.line;
    if (input_cut_fast(&r->cut, &piece)) {
        input_take(r, &piece, NULL, line);
        input_window_use(&r->window, piece.text.n);
    } else if (!input_read_envelope(r)) {
        skip_to_document(r);
    }
}

static void read_array(struct input_reader *r)
{
    size_t line = r->window.line;
    input_window_use(&r->window, 1);
    if (!input_read_elements(r, NULL, line) && !r->stopped) skip_to_document(r);
}

/* Whether the document that begins with a bracket is JSON: an object, or an array of them. `{ a: b }` is
 * YAML. */
static bool begins_as_json(struct input_reader *r, int bracket)
{
    enum { LOOK_MAX = 4096 };
    int c = ' ';
    for (size_t i = 1; i < LOOK_MAX && (c == ' ' || c == '\t' || c == '\n' || c == '\r'); i++)
        c = input_window_byte(&r->window, i);
    return c < 0 || c == '\0' || strchr(bracket == '{' ? "\"} \t\r\n" : "{[] \t\r\n", c);
}

/* Steps over a line of three dashes, or dots, as YAML has between documents. */
static bool skip_mark(struct input_reader *r, int c)
{
    for (size_t i = 1; i < 3; i++)
        if (input_window_byte(&r->window, i) != c) return false;
    int behind = input_window_byte(&r->window, 3);
    if (behind >= 0 && behind != ' ' && behind != '\n' && behind != '\r' && behind != '\t') return false;
    input_window_use(&r->window, 3);
    return true;
}

bool input_read_json(struct input_reader *r)
{
    bool may_be_yaml = true;
    int c;
    while (!r->stopped && (c = input_window_skip_blanks(&r->window)) >= 0) {
        if ((c == '-' || c == '.') && skip_mark(r, c)) {
            may_be_yaml = true;
            continue;
        }
        bool bracket = c == '{' || c == '[';
        if (may_be_yaml && (!bracket || !begins_as_json(r, c))) return false;
        may_be_yaml = false;
        if (bracket) r->counts->documents++;
        if (c == '{') {
            read_object(r);
        } else if (c == '[') {
            read_array(r);
        } else {
            input_refuse_text(r, r->window.line, ERR_PARSE, "invalid JSON: an object or an array expected");
            skip_to_document(r);
        }
    }
    return true;
}
