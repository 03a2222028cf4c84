/* Reader of JSON: objects, Lists and arrays of them, one after another. Values that fit into the window are
 * cut by their tokens; of others the top level is read byte by byte (input_read_envelope), and the items of a
 * list are cut one by one. Even damaged text is read at most twice. */
#include <string.h>

#include "audit/input/input_reader.h"
#include "object/parse/json_scan.h"
#include "object/parse/token.h"

/* Takes the value at the window's bracket, an element of a list or an array. Returns false if nothing is
 * left. */
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

/* Reports a value that is not an object and skips it, up to a mark that may follow it. */
static bool pass_scalar(struct input_reader *r)
{
    int c, last = 0;
    bool in_string = false;
    input_refuse_text(r, r->window.line, ERR_PARSE, "item is not an object");
    for (; (c = input_window_byte(&r->window, 0)) >= 0; last = last == '\\' && c == '\\' ? 0 : c) {
        if (c == '\n' || (!in_string && (c == ',' || c == ']' || c == '}'))) return true;
        if (c == '"' && last != '\\') in_string = !in_string;
        input_window_use(&r->window, 1);
    }
    return true;
}

/* Reads the elements of the array that the window is in, after its bracket; `line` is the line of the array,
 * or of the list around it. Returns false if it is damaged, which was reported. */
static bool input_read_elements(struct input_reader *r, const struct input_type *type, size_t line)
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
            input_refuse_text(r, line, ERR_CLOSED,
                              "unexpected end of input in the object that starts at line %zu", w->line);
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
        if (c == '{') input_share_try(r, type, true);
        if (!(c == '{' || c == '[' ? take_element(r, type) : pass_scalar(r))) return false;
    }
    return true;
}

/* --- documents */

/* Skips damaged text: a line that begins with a bracket begins the next document. */
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

/* Returns whether the document that begins with a bracket is JSON: an object, or an array of them. `{ a: b }`
 * is YAML. */
static bool begins_as_json(struct input_reader *r, int bracket)
{
    enum { SPACE_MAX = 4096 };
    int c = ' ';
    for (size_t i = 1; i < SPACE_MAX && (c == ' ' || c == '\t' || c == '\n' || c == '\r'); i++)
        c = input_window_byte(&r->window, i);
    return c < 0 || c == '\0' || strchr(bracket == '{' ? "\"} \t\r\n" : "{[] \t\r\n", c);
}

/* Skips a line of three dashes, or dots, as YAML has between documents. */
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
        if (c == '{' && !may_be_yaml) input_share_try(r, NULL, false);
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

/* --- The top level of an object byte by byte; see input_reader.h. Until its items begin the object stays in
 * the window, as it may have none */

enum { TEXT_ENDS = -1, TOO_LARGE = -2 };

struct envelope {
    size_t line;  /* its first line */
    size_t at;    /* bytes of the window that were read */
    bool is_list; /* its items have begun */
    int because;  /* reason of an early end: one of the two above, or 0: reported */
    char kind[INPUT_TYPE_MAX], api_version[INPUT_TYPE_MAX];
};

/* Returns the next byte, or one of the two. */
static int byte_at(struct input_reader *r, const struct envelope *e)
{
    return e->at > r->max ? TOO_LARGE : input_window_byte(&r->window, e->at);
}

static bool is_blank(int c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static int next_byte(struct input_reader *r, struct envelope *e)
{
    int c;
    if (e->is_list) {
        input_window_use(&r->window, e->at);
        e->at = 0;
        return input_window_skip_blanks(&r->window);
    }
    while (is_blank(c = byte_at(r, e))) e->at++;
    return c;
}

/* Reports an unexpected character `c`. */
static bool wrong(struct input_reader *r, struct envelope *e, int c, const char *wanted)
{
    e->because = c < 0 ? c : 0;
    if (c < 0) return false;
    input_window_use(&r->window, e->at);
    input_refuse_text(r, r->window.line, ERR_PARSE, "invalid JSON: %s expected", wanted);
    return false;
}

static bool skip_string(struct input_reader *r, struct envelope *e)
{
    int c;
    for (e->at++; (c = byte_at(r, e)) != '"'; e->at++) {
        if (c == '\\') e->at++;
        if (c < 0) return wrong(r, e, c, "");
    }
    e->at++;
    return true;
}

static bool skip_container(struct input_reader *r, struct envelope *e)
{
    struct json_scan scan = {0};
    for (;;) {
        struct str text = input_window_text(&r->window);
        const char *behind = json_scan(&scan, text.p + e->at, text.p + text.n);
        e->at = behind ? (size_t)(behind - text.p) : text.n;
        if (behind) return true;
        if (e->at > r->max) return wrong(r, e, TOO_LARGE, "");
        if (!input_window_more(&r->window)) return wrong(r, e, TEXT_ENDS, "");
    }
}

static bool skip_value(struct input_reader *r, struct envelope *e, int c)
{
    size_t before = e->at;
    if (c == '"') return skip_string(r, e);
    if (c == '{' || c == '[') return skip_container(r, e);
    while (c >= 0 && !is_blank(c) && c != ',' && c != '}' && c != ']') {
        e->at++;
        c = byte_at(r, e);
    }
    return (c >= 0 && e->at > before) || wrong(r, e, c, "a value");
}

/* Copies the string between `from` and the current position; empty if it is not a string, or too long. */
static void copy_text(const struct input_reader *r, const struct envelope *e, size_t from, char *to)
{
    const char *p = r->window.data + r->window.from + from;
    size_t n = e->at - from;
    *to = '\0';
    if (n < 2 || *p != '"' || n - 2 >= INPUT_TYPE_MAX) return;
    if (!token_unescape_name((struct str){p + 1, n - 2}, to, &n)) n = 0;
    to[n] = '\0';
}

static bool read_items(struct input_reader *r, struct envelope *e)
{
    struct input_type type = input_item_type(str_of(e->api_version), str_of(e->kind));
    type.pending = !*e->kind || !*e->api_version;
    e->is_list = true;
    input_window_use(&r->window, e->at + 1);
    e->at = 0;
    e->because = 0;
    return input_read_elements(r, &type, e->line) && !r->stopped;
}

static bool read_field(struct input_reader *r, struct envelope *e)
{
    char key[INPUT_TYPE_MAX];
    int c = next_byte(r, e);
    size_t from = e->at;
    if (c != '"') return wrong(r, e, c, "a field's name");
    if (!skip_string(r, e)) return false;
    copy_text(r, e, from, key);
    c = next_byte(r, e);
    if (c != ':') return wrong(r, e, c, "':'");
    e->at++;
    c = next_byte(r, e);
    if (c == '[' && strcmp(key, "items") == 0) return read_items(r, e);
    from = e->at;
    if (!skip_value(r, e, c)) return false;
    if (strcmp(key, "kind") == 0) copy_text(r, e, from, e->kind);
    if (strcmp(key, "apiVersion") == 0) copy_text(r, e, from, e->api_version);
    return true;
}

static bool read_fields(struct input_reader *r, struct envelope *e)
{
    e->at = 1;
    int c = next_byte(r, e);
    if (c == '}') {
        e->at++;
        return true;
    }
    for (;;) {
        if (!read_field(r, e)) return false;
        c = next_byte(r, e);
        if (c != '}' && c != ',') return wrong(r, e, c, "',' or '}'");
        e->at++;
        if (c == '}') return true;
    }
}

/* Skips a value whose envelope failed before its items were found. */
static bool pass_over(struct input_reader *r, const struct envelope *e)
{
    struct input_piece piece;
    if (e->is_list) {
        if (e->because == TOO_LARGE)
            input_refuse_text(r, r->window.line, ERR_LIMIT, "field of a List exceeds %zu bytes (%s)", r->max,
                              r->max_name);
        else
            input_refuse_cut(r, CUT_OPEN, e->line);
        return false;
    }
    enum input_cut_result result = input_cut(&r->cut, &piece);
    input_refuse_cut(r, result, e->line);
    return result == CUT_LARGE;
}

static void take_single(struct input_reader *r, const struct envelope *e)
{
    struct str text = {r->window.data + r->window.from, e->at};
    struct input_piece piece;
    if (input_tokens_find(&r->cut.alone, text, &piece))
        input_take(r, &piece, NULL, e->line);
    else
        input_take_damaged(r, text, e->line);
}

bool input_read_envelope(struct input_reader *r)
{
    struct envelope e = {.line = r->window.line};
    bool well = read_fields(r, &e);
    if (!well && !r->stopped && e.because < 0) return pass_over(r, &e);
    if (well && !e.is_list) take_single(r, &e);
    if (well) input_window_use(&r->window, e.at);
    if (e.is_list && !r->stopped) {
        struct input_type type = input_item_type(str_of(e.api_version), str_of(e.kind));
        input_take_late(r, &type, e.line);
    }
    return well || r->stopped;
}
