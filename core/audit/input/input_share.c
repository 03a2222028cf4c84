/* Guesses where pieces of a file begin, reads a piece in a fork, and continues behind those that were read;
 * see input_share.h. */
#include "audit/input/input_share.h"

#include <string.h>

#include "audit/input/input_reader.h"

enum {
    LEARN = 256 << 10,   /* bytes that the reader reads first, so that it knows the fields that rules read */
    TRIES_MAX = 8,       /* for a file with damaged parts, which it reads itself */
    PIECE_MAX = 2 << 20, /* bytes */
    PIECES = 32,         /* of a small file */
    LAST = 128 << 10,    /* bytes that the reader reads at the end */
    HEAD_LEAST = 8,      /* bytes: a shorter mark would be found anywhere */
    LOOK = 16 << 10,     /* bytes in which a mark is looked for at once */
    LOOK_MAX = 64 << 20, /* bytes behind which there is none */
};

_Static_assert(INPUT_MARK_MAX == 2 * INPUT_HEAD, "what is before an item, and its beginning");

/* --- pieces */

/* Returns the first mark's item behind a byte, or the end. */
static uint64_t find_mark(const struct input_share *s, uint64_t at)
{
    char text[LOOK + sizeof s->mark];
    for (uint64_t looked = 0; at < s->to && looked < LOOK_MAX; at += LOOK, looked += LOOK) {
        size_t n = input_source_look(s->reader->source, at, text, LOOK + s->length - 1);
        const char *found = memmem(text, n, s->mark, s->length);
        if (found) return at + (uint64_t)(found - text) + s->lead;
    }
    return s->to;
}

uint64_t input_share_begin(const struct input_share *s, size_t piece)
{
    return piece ? find_mark(s, s->from + piece * s->piece) : s->from;
}

int input_share_fd(const struct input_share *s)
{
    return input_source_fd(s->reader->source);
}

void input_share_set_fd(struct input_share *s, int fd)
{
    input_source_set_fd(s->reader->source, fd);
}

/* Takes the item or document at the window's bracket, unless there is anything unusual about it. */
static bool take_one(struct input_share *s)
{
    struct input_reader *r = s->reader;
    struct input_piece piece;
    size_t line = r->window.line;
    if (input_cut(&r->cut, &piece) != CUT_WHOLE) return false;
    r->counts->documents += !s->in_array;
    input_take(r, &piece, s->list, line);
    input_window_use(&r->window, piece.text.n);
    return !r->stopped && r->late.count == 0 && r->refused == 0;
}

/* Moves to the bracket of the next one, with a comma before it in a list. */
static bool next_one(struct input_share *s)
{
    struct input_window *w = &s->reader->window;
    int c = input_window_skip_blanks(w);
    if (s->in_array) {
        if (c != ',') return false;
        input_window_use(w, 1);
        c = input_window_skip_blanks(w);
    }
    return c == '{';
}

struct input_piece_read input_share_read(struct input_share *s, size_t piece)
{
    struct input_reader *r = s->reader;
    struct input_window *w = &r->window;
    uint64_t begin = input_share_begin(s, piece), end = input_share_begin(s, piece + 1);
    if (begin >= end) return (struct input_piece_read){.whole = begin == end};
    r->refused = 0;
    /* Not one byte behind the next bracket, so that nothing is looked at twice. */
    input_window_move(w, begin, end < s->to ? end + 1 : 0, 1);
    if (input_window_byte(w, 0) != '{') return (struct input_piece_read){0};
    do
        if (!take_one(s) || !next_one(s)) return (struct input_piece_read){0};
    while (input_window_place(w) < end);
    return (struct input_piece_read){.whole = input_window_place(w) == end, .lines = w->line - 1};
}

/* --- the mark */

static size_t common(const char *a, const char *b, size_t max)
{
    size_t n = 0;
    while (n < max && a[n] == b[n]) n++;
    return n;
}

/* Returns how much of an item's beginning others are likely to have, too: names of fields at its top level,
 * and the values of two of them. */
static size_t usual_length(const char *text, size_t n)
{
    size_t depth = 0, key = 0, at = 0;
    for (bool is_value = false; at < n; at++) {
        char c = text[at];
        depth += c == '{';
        if (c == '{' || c == ',') is_value = false;
        if (c == ':') is_value = true;
        if (c != '"') continue;
        const char *end = memchr(text + at + 1, '"', n - at - 1);
        bool is_type =
            strncmp(text + key, "\"apiVersion\"", 12) == 0 || strncmp(text + key, "\"kind\"", 6) == 0;
        if (!end || depth != 1 || (is_value && !is_type)) break;
        if (!is_value) key = at;
        at = (size_t)(end - text);
    }
    return at;
}

/* Makes the mark of what is before the window's bracket, from the item before it on, and of what the
 * beginnings of both items have in common. */
static bool make_mark(struct input_share *s, struct str text)
{
    const struct input_reader *r = s->reader;
    const char *begin = r->window.data, *at = r->window.data + r->window.from, *p = at;
    while (p > begin && at - p < INPUT_HEAD && p[-1] && strchr(" \t\r\n,", p[-1])) p--;
    if (p == begin || p == at || at - p == INPUT_HEAD) return false;
    size_t same = common(r->head, text.p, text.n < r->head_length ? text.n : r->head_length);
    same = usual_length(text.p, same);
    s->lead = (size_t)(at - p);
    s->length = s->lead + same;
    memcpy(s->mark, p, s->lead);
    memcpy(s->mark + s->lead, text.p, same);
    return same >= HEAD_LEAST;
}

static void keep_head(struct input_reader *r, struct str text)
{
    r->head_length = text.n < INPUT_HEAD ? text.n : INPUT_HEAD;
    memcpy(r->head, text.p, r->head_length);
}

static bool plan(struct input_share *s, uint64_t least)
{
    uint64_t left = s->to > s->from ? s->to - s->from : 0;
    if (left < least) return false;
    left -= left / PIECES < LAST ? left / PIECES : LAST;
    s->count = left / PIECES < PIECE_MAX ? PIECES : (size_t)(left / PIECE_MAX);
    s->piece = left / s->count;
    return true;
}

/* --- the reader */

/* Returns whether the file is one that may be shared, from here on. */
static bool may_share(struct input_reader *r)
{
    const struct audit_input_options *o = r->options;
    if (!o->share || o->total || r->late.count || r->shared >= TRIES_MAX) return false;
    if (r->share_next == 0) {
        uint64_t size = input_source_plain_size(r->source);
        if (size < (o->share_least ? o->share_least : INPUT_SHARE_LEAST)) r->shared = TRIES_MAX;
        r->share_next = size / PIECES < LEARN ? size / PIECES + 1 : LEARN;
    }
    return r->shared < TRIES_MAX;
}

/* Moves behind the pieces that were read. */
static void go_on(struct input_share *s, size_t pieces, uint64_t lines)
{
    struct input_reader *r = s->reader;
    uint64_t place = input_share_begin(s, pieces);
    input_window_move(&r->window, place, 0, r->window.line + lines);
    r->head_length = 0;
    r->share_next = place + LEARN;
    input_window_byte(&r->window, 0);
}

void input_share_try(struct input_reader *r, const struct input_type *list, bool in_array)
{
    const struct audit_input_options *o = r->options;
    if (!may_share(r)) return;
    struct str text = input_window_text(&r->window);
    struct input_share share = {.reader = r,
                                .file = str_of(r->file),
                                .list = list,
                                .in_array = in_array,
                                .before = r->before,
                                .total = r->total,
                                .from = input_window_place(&r->window),
                                .line = r->window.line};
    bool is_time = share.from >= r->share_next && text.n >= INPUT_HEAD && r->head_length > 0;
    if (is_time && make_mark(&share, text)) {
        uint64_t lines = 0;
        share.to = input_source_plain_size(r->source);
        r->shared++;
        size_t pieces = plan(&share, o->share_least ? o->share_least : INPUT_SHARE_LEAST)
                            ? o->share(o->ctx, &share, &lines)
                            : 0;
        if (pieces) go_on(&share, pieces, lines);
        if (!pieces) r->share_next = share.from + LEARN;
    }
    keep_head(r, input_window_text(&r->window));
}
