/* Lists by their parts, checked and shortened by simdjson; see list_parts.h. The walk finds where parts begin
 * and end, and checks nothing but what is between two items: the parser does that with each part. */
#include "object/parse/list_parts.h"

#include <string.h>

#include "base/must.h"
#include "object/parse/json_scan.h"
#include "object/parse/simdjson.h"
#include "object/parse/tape.h"

struct list_walk {
    struct simdjson_parser *parser;
    struct buf padded, compact; /* used for each part anew */
    bool (*take)(void *ctx, struct str text);
    void *ctx;
};

/* --- one part */

/* Walks the tape from word to word, whatever is within what. */
static bool is_plain(const struct tape *tape)
{
    size_t end = tape_after(tape, tape_root(tape));
    for (size_t at = tape_root(tape); at < end;) {
        char type = tape_type(tape, at);
        if (type == 'u' || type == 'd') return false;
        if (type == '"' && str_has_nul(tape_str(tape, at))) return false;
        at += type == 'l' ? 2 : 1;
    }
    return true;
}

/* Takes what is in `padded`. */
static bool take_part(struct list_walk *walk)
{
    struct tape tape;
    struct buf *padded = &walk->padded, *compact = &walk->compact;
    size_t n = padded->len;
    memset(buf_reserve(padded, SIMDJSON_TEXT_PADDING), 0, SIMDJSON_TEXT_PADDING);
    if (simdjson_parse(walk->parser, padded->data, n, &tape.words, &tape.strings) || !is_plain(&tape))
        return false;
    compact->len = 0;
    compact->len = simdjson_minify(padded->data, n, buf_reserve(compact, n + SIMDJSON_TEXT_PADDING));
    return walk->take(walk->ctx, buf_slice(compact));
}

/* --- where parts are */

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && is_blank(*p)) p++;
    return p;
}

/* Returns what is behind the string at `p`; NULL if it has no end. */
static const char *skip_string(const char *p, const char *end)
{
    for (p++; p < end && *p != '"'; p++)
        if (*p == '\\') p++;
    return p < end ? p + 1 : NULL;
}

/* Returns what is behind the value at `p`, which the parser checks later; NULL if it has no end. */
static const char *skip_value(const char *p, const char *end)
{
    struct json_scan scan = {0};
    if (p == end) return NULL;
    if (*p == '{' || *p == '[') return json_scan(&scan, p, end);
    if (*p == '"') return skip_string(p, end);
    while (p < end && *p != ',' && *p != '}' && !is_blank(*p)) p++;
    return p;
}

/* Finds the only member `items` of the List: it is an array without its brackets. */
static bool find_items(struct str text, struct str *items)
{
    const char *p = skip_blanks(text.p, text.p + text.n), *end = text.p + text.n, *behind;
    *items = (struct str){0};
    if (p == end || *p != '{') return false;
    for (p = skip_blanks(p + 1, end); p < end && *p == '"'; p = skip_blanks(p + 1, end)) {
        /* An escape may spell the name of another member. */
        if (!(behind = skip_string(p, end)) || memchr(p, '\\', (size_t)(behind - p))) return false;
        bool found = str_is((struct str){p, (size_t)(behind - p)}, "\"items\"");
        p = skip_blanks(behind, end);
        if (p == end || *p != ':') return false;
        p = skip_blanks(p + 1, end);
        if (!(behind = skip_value(p, end))) return false;
        if (found && (items->p || *p != '[')) return false;
        if (found) *items = (struct str){p + 1, (size_t)(behind - p) - 2};
        p = skip_blanks(behind, end);
        if (p == end || *p != ',') break;
    }
    return items->p != NULL;
}

static bool take_list(struct list_walk *walk, struct str text, struct str items)
{
    const char *behind = items.p + items.n, *end = text.p + text.n;
    buf_append(&walk->padded, text.p, (size_t)(items.p - text.p));
    buf_append(&walk->padded, behind, (size_t)(end - behind));
    return take_part(walk);
}

static bool take_items(struct list_walk *walk, struct str items)
{
    const char *end = items.p + items.n, *p = skip_blanks(items.p, end), *behind;
    while (p < end) {
        if (*p != '{' || !(behind = skip_value(p, end))) return false;
        walk->padded.len = 0;
        buf_append(&walk->padded, p, (size_t)(behind - p));
        if (!take_part(walk)) return false;
        p = skip_blanks(behind, end);
        if (p == end) return true;
        if (*p != ',') return false;
        p = skip_blanks(p + 1, end);
        if (p == end) return false; /* a comma with nothing behind it */
    }
    return true;
}

bool json_list_parts(struct str text, bool (*part)(void *ctx, struct str text), void *ctx)
{
    struct list_walk walk = {.parser = simdjson_parser_new(), .take = part, .ctx = ctx};
    struct str items;
    must(walk.parser);
    bool ok = find_items(text, &items) && take_list(&walk, text, items) && take_items(&walk, items);
    buf_clear(&walk.padded);
    buf_clear(&walk.compact);
    simdjson_parser_free(walk.parser);
    return ok;
}
