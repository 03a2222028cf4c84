/* JSON's grammar byte by byte; see input_fault.h. */
#include "audit/input/input_fault.h"

#include <stdint.h>

#include "audit/input/input_reader.h"
#include "object/parse/token.h"

enum { LEVELS_MAX = 4096 /* deeper levels are not checked: parsers refuse them */ };

enum want { WANT_VALUE, WANT_ITEM_OR_END, WANT_KEY, WANT_KEY_OR_END, WANT_COLON, WANT_COMMA_OR_END };

struct fault_walk {
    const char *p, *end;
    enum want want;
    size_t depth;
    uint64_t is_map[LEVELS_MAX / 64];
};

static bool in_map(const struct fault_walk *w)
{
    return w->depth > 0 && (w->is_map[(w->depth - 1) / 64] >> ((w->depth - 1) % 64) & 1);
}

static bool open_level(struct fault_walk *w, bool map)
{
    uint64_t bit = (uint64_t)1 << (w->depth % 64), *bits = &w->is_map[w->depth / 64];
    if (w->depth == LEVELS_MAX) return false;
    *bits = map ? *bits | bit : *bits & ~bit;
    w->depth++;
    w->want = map ? WANT_KEY_OR_END : WANT_ITEM_OR_END;
    w->p++;
    return true;
}

static bool close_level(struct fault_walk *w)
{
    w->depth--;
    w->want = WANT_COMMA_OR_END;
    w->p++;
    return true;
}

static bool is_digit(const struct fault_walk *w)
{
    return w->p < w->end && *w->p >= '0' && *w->p <= '9';
}

static bool digits(struct fault_walk *w)
{
    if (!is_digit(w)) return false;
    while (is_digit(w)) w->p++;
    return true;
}

static bool take_any(struct fault_walk *w, const char *among)
{
    if (w->p == w->end || !*w->p || !strchr(among, *w->p)) return false;
    w->p++;
    return true;
}

static bool number(struct fault_walk *w)
{
    take_any(w, "-");
    if (!take_any(w, "0") && !digits(w)) return false;
    if (take_any(w, ".") && !digits(w)) return false;
    if (!take_any(w, "eE")) return true;
    take_any(w, "+-");
    return digits(w);
}

static bool escape(struct fault_walk *w)
{
    w->p++;
    if (!take_any(w, "u")) return take_any(w, "\"\\/bfnrt");
    for (int i = 0; i < 4; i++)
        if (!take_any(w, "0123456789abcdefABCDEF")) return false;
    return true;
}

static bool string(struct fault_walk *w)
{
    for (w->p++; w->p < w->end && *w->p != '"';) {
        size_t n = str_utf8((struct str){w->p, (size_t)(w->end - w->p)});
        if (n == 0 || (unsigned char)*w->p < ' ') return false;
        if (*w->p != '\\')
            w->p += n;
        else if (!escape(w))
            return false;
    }
    return take_any(w, "\"");
}

static bool word(struct fault_walk *w, const char *text)
{
    for (; *text; text++, w->p++)
        if (w->p == w->end || *w->p != *text) return false;
    return true;
}

static bool value(struct fault_walk *w)
{
    w->want = WANT_COMMA_OR_END;
    switch (*w->p) {
    case '{': return open_level(w, true);
    case '[': return open_level(w, false);
    case '"': return string(w);
    case 't': return word(w, "true");
    case 'f': return word(w, "false");
    case 'n': return word(w, "null");
    default: return number(w);
    }
}

static bool key(struct fault_walk *w)
{
    w->want = WANT_COLON;
    return *w->p == '"' && string(w);
}

static bool comma_or_end(struct fault_walk *w)
{
    if (w->depth == 0) return false;
    if (*w->p == (in_map(w) ? '}' : ']')) return close_level(w);
    w->want = in_map(w) ? WANT_KEY : WANT_VALUE;
    return take_any(w, ",");
}

/* Checks what begins at the current byte. */
static bool step(struct fault_walk *w)
{
    switch (w->want) {
    case WANT_ITEM_OR_END: return *w->p == ']' ? close_level(w) : value(w);
    case WANT_KEY_OR_END: return *w->p == '}' ? close_level(w) : key(w);
    case WANT_KEY: return key(w);
    case WANT_COLON: w->want = WANT_VALUE; return take_any(w, ":");
    case WANT_COMMA_OR_END: return comma_or_end(w);
    default: return value(w);
    }
}

size_t input_fault(struct str text)
{
    struct fault_walk w = {.p = text.p, .end = text.p + text.n};
    for (;;) {
        while (take_any(&w, " \t\r\n")) {}
        if (w.p == w.end) return text.n;
        if (!step(&w)) return w.depth == LEVELS_MAX ? text.n : (size_t)(w.p - text.p);
    }
}

/* --- reports of unreadable parts of a file, with file and line */

void input_refuse(struct input_reader *r, size_t line, struct err *err)
{
    const struct audit_input_sink *sink = r->options->sink;
    if (r->refused++ >= INPUT_REPORTED_MAX) return;
    err_wrap(err, "%s:%zu", r->file, line);
    sink->refused(sink->ctx, err);
}

void input_refuse_rest(struct input_reader *r)
{
    const struct audit_input_sink *sink = r->options->sink;
    struct err err;
    if (r->refused > INPUT_REPORTED_MAX) {
        err_set(&err, ERR_LIMIT, "%s: %zu more objects could not be read", r->file,
                r->refused - INPUT_REPORTED_MAX);
        sink->refused(sink->ctx, &err);
    }
    r->refused = 0;
}

void input_refuse_text(struct input_reader *r, size_t line, enum err_code code, const char *format, ...)
{
    struct err err;
    va_list args;
    va_start(args, format);
    err_vset(&err, code, format, args);
    va_end(args);
    input_refuse(r, line, &err);
}

void input_refuse_cut(struct input_reader *r, enum input_cut_result result, size_t line)
{
    if (result == CUT_LARGE) r->window.idle = 0;
    if (result == CUT_LARGE)
        input_refuse_text(r, line, ERR_LIMIT, "object exceeds %zu bytes (%s)", r->max, r->max_name);
    else
        input_refuse_text(r, line, ERR_CLOSED, "unexpected end of input in the object that starts here");
}

void input_refuse_damaged(struct input_reader *r, struct str text, size_t line, struct err *err)
{
    size_t fault = input_fault(text);
    size_t below = fault < text.n ? input_count_lines((struct str){text.p, fault}) : 0;
    if (below > 0) {
        struct err cause = *err;
        err_set(err, cause.code, "%s, in the object that starts at line %zu", cause.text, line);
    }
    input_refuse(r, line + below, err);
}

void input_take_damaged(struct input_reader *r, struct str text, size_t line)
{
    struct tape tape;
    struct err err;
    if (tape_parse(r->parser, text.p, text.n, &tape, &err))
        err_set(&err, ERR_LIMIT, "nested deeper than %d", TOKEN_MATCH_DEPTH);
    input_refuse_damaged(r, text, line, &err);
}
