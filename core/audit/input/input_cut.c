/* Cuts pieces by tokens found ahead, or by a scan for the closing bracket; see input_cut.h. */
#include "audit/input/input_cut.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"
#include "object/parse/json_scan.h"
#include "object/parse/token.h"

void input_tokens_init(struct input_tokens *t)
{
    *t = (struct input_tokens){.parser = token_parser_new()};
}

void input_tokens_clear(struct input_tokens *t)
{
    token_parser_free(t->parser);
    free(t->close);
    *t = (struct input_tokens){0};
}

static bool find_tokens(struct input_tokens *t, struct str text)
{
    enum { KEEP = 1 << 20 };
    if (!tokens_find(t->parser, text.p, text.n, &t->tokens)) return false;
    if (t->room < t->tokens.count || (t->room > KEEP && t->tokens.count < KEEP / 8)) {
        free(t->close);
        t->room = t->tokens.count * 2;
        t->close = xcalloc(t->room, sizeof *t->close);
    }
    token_match(&t->tokens, 0, t->close);
    return true;
}

bool input_tokens_find(struct input_tokens *t, struct str text, struct input_piece *piece)
{
    if (!find_tokens(t, text) || token_behind(&t->tokens, t->close, 0) != t->tokens.count) return false;
    *piece = (struct input_piece){t->tokens, t->close, 0, text};
    return true;
}

void input_cut_init(struct input_cut *c, struct input_window *window, size_t max)
{
    *c = (struct input_cut){.window = window, .max = max};
    input_tokens_init(&c->ahead);
    input_tokens_init(&c->alone);
}

void input_cut_clear(struct input_cut *c)
{
    input_tokens_clear(&c->ahead);
    input_tokens_clear(&c->alone);
}

/* --- by tokens ahead */

static bool take_ahead(struct input_cut *c, struct input_piece *piece)
{
    const struct input_window *w = c->window;
    const struct tokens *t = &c->ahead.tokens;
    if (c->moves != w->moves || w->from < c->from || w->from >= c->to) return false;
    size_t place = w->from - c->from, at = c->next;
    while (at < t->count && t->at[at] < place) at++;
    c->next = at;
    if (at == t->count || t->at[at] != place || !c->ahead.close[at]) return false;
    size_t close = c->ahead.close[at], length = t->at[close] + 1 - place;
    must(close > at && close < t->count && w->from + length <= w->to);
    if (length > c->max) return false;
    *piece = (struct input_piece){*t, c->ahead.close, at, {w->data + w->from, length}};
    c->next = close + 1;
    return true;
}

/* Finds tokens ahead; returns false if they have been found already, or cannot be. */
static bool read_ahead(struct input_cut *c)
{
    struct input_window *w = c->window;
    size_t to = w->to, before = 0;
    if (c->moves == w->moves) {
        if (w->from < c->by_scan_to) return false;
        before = c->to;
    }
    if (!w->ended) {
        const char *end = memrchr(w->data + w->from, '\n', w->to - w->from);
        to = end ? (size_t)(end - w->data) + 1 : 0;
    }
    c->moves = w->moves;
    c->by_scan_to = 0;
    bool found = to > before && find_tokens(&c->ahead, (struct str){w->data + w->from, to - w->from});
    if (found) {
        c->from = w->from;
        c->to = to;
        c->next = 0;
    } else {
        c->from = c->to = 0; /* those that were found before a move are of other text */
        c->by_scan_to = w->to;
    }
    return found;
}

bool input_cut_fast(struct input_cut *c, struct input_piece *piece)
{
    struct input_window *w = c->window;
    if (take_ahead(c, piece)) return true;
    bool by_scan = c->moves == w->moves && w->from < c->by_scan_to;
    if (!by_scan && w->to - w->from < w->cap / 2) input_window_more(w);
    return read_ahead(c) && take_ahead(c, piece);
}

/* --- by a scan */

/* Skips a value that is longer than the limit without keeping it. */
static enum input_cut_result pass_over(struct input_window *w, struct json_scan *scan)
{
    for (;;) {
        struct str text = input_window_text(w);
        const char *behind = json_scan(scan, text.p, text.p + text.n);
        input_window_use(w, behind ? (size_t)(behind - text.p) : text.n);
        if (behind) return CUT_LARGE;
        if (!input_window_more(w)) return CUT_OPEN;
    }
}

enum input_cut_result input_cut(struct input_cut *c, struct input_piece *piece)
{
    struct input_window *w = c->window;
    struct json_scan scan = {0};
    const char *behind;
    size_t seen = 0;
    if (input_cut_fast(c, piece)) return CUT_WHOLE;
    for (;;) {
        struct str text = input_window_text(w);
        behind = json_scan(&scan, text.p + seen, text.p + text.n);
        seen = behind ? (size_t)(behind - text.p) : text.n;
        if (behind || seen > c->max) break;
        if (!input_window_more(w)) {
            input_window_use(w, seen);
            return CUT_OPEN;
        }
    }
    if (seen > c->max) {
        input_window_use(w, seen);
        return behind ? CUT_LARGE : pass_over(w, &scan);
    }
    struct str text = {w->data + w->from, seen};
    if (input_tokens_find(&c->alone, text, piece)) return CUT_WHOLE;
    piece->text = text;
    return CUT_DAMAGED;
}
