/* Body of a list, scanned byte by byte at its top level and 64 bytes at a time inside its items; see frame.h.
 */
#include <ctype.h>
#include <string.h>

#include "kube/api/frame_internal.h"
#include "object/parse/tape.h"
#include "object/parse/token.h"

enum { NAME_MAX_ESCAPED = 60 }; /* bytes of "apiVersion" */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static struct str span_text(const struct framer *framer, struct str_span span)
{
    return (struct str){framer->envelope.data + span.at, span.len};
}

/* Returns the string of the envelope from `at` on; none that is searched for has escapes. */
static struct str_span plain_string(const struct framer *framer, size_t at)
{
    const char *text = framer->envelope.data + at;
    size_t len = framer->envelope.len - at;
    if (len < 3 || *text != '"' || memchr(text, '\\', len)) return (struct str_span){0};
    return (struct str_span){at + 1, len - 2};
}

/* Replaces a field's name, the last string of the envelope, by its letters: names are compared as they are
 * written. */
static void unescape_name(struct buf *envelope, size_t at)
{
    struct str raw = {envelope->data + at + 1, envelope->len - at - 2};
    char name[NAME_MAX_ESCAPED];
    size_t n;
    if (raw.n > sizeof name || !memchr(raw.p, '\\', raw.n) || !token_unescape_name(raw, name, &n)) return;
    for (size_t i = 0; i < n; i++)
        if (!isalpha((unsigned char)name[i])) return;
    envelope->len = at + 1;
    buf_append(envelope, name, n);
    buf_putc(envelope, '"');
}

/* A field of the list is whole: is it one of the two that say what its items are? */
static bool end_value(struct framer *framer)
{
    struct str key = span_text(framer, framer->key);
    struct str_span value = plain_string(framer, framer->value_at);
    framer->state = LIST_AFTER_VALUE;
    if (str_is(key, "kind"))
        framer->kind = value;
    else if (str_is(key, "apiVersion"))
        framer->api_version = value;
    if (framer->announced || !framer->kind.len || !framer->api_version.len) return true;
    framer->announced = true;
    return !framer->sink.list_type ||
           framer->sink.list_type(framer->sink.ctx, span_text(framer, framer->kind),
                                  span_text(framer, framer->api_version));
}

/* A string goes on in p..end: returns the place behind its end, or `end`, and whether it ended. */
static const char *find_string_end(struct framer *framer, const char *p, const char *end, bool *ended)
{
    *ended = false;
    while (p < end && !*ended) {
        char c = *p++;
        if (framer->escaped)
            framer->escaped = false;
        else if (c == '\\')
            framer->escaped = true;
        else
            *ended = c == '"';
    }
    return p;
}

static const char *pass_string(struct framer *framer, const char *p, const char *end, bool *ended)
{
    const char *from = p;
    p = find_string_end(framer, p, end, ended);
    buf_append(&framer->envelope, from, (size_t)(p - from));
    return p;
}

static const char *pass_container(struct framer *framer, const char *p, const char *end, bool *ended)
{
    const char *behind = json_scan(&framer->scan, p, end);
    *ended = behind != NULL;
    if (!behind) behind = end;
    buf_append(&framer->envelope, p, (size_t)(behind - p));
    return behind;
}

static const char *pass_scalar(struct framer *framer, const char *p, const char *end, bool *ended)
{
    const char *from = p;
    while (p < end && !is_blank(*p) && *p != ',' && *p != '}' && *p != ']') p++;
    *ended = p < end;
    buf_append(&framer->envelope, from, (size_t)(p - from));
    return p;
}

/* Handles the first byte of a field's value. */
static void begin_value(struct framer *framer, char c)
{
    framer->value_at = framer->envelope.len;
    if (c == '[' && str_is(span_text(framer, framer->key), "items")) {
        buf_puts(&framer->envelope, "[]");
        framer->state = LIST_ITEM_OR_END;
        return;
    }
    framer->scan = (struct json_scan){0};
    framer->state = c == '"' ? LIST_IN_STRING : c == '{' || c == '[' ? LIST_IN_CONTAINER : LIST_IN_SCALAR;
    if (c == '"')
        buf_putc(&framer->envelope, c); /* the opening quote must not be taken for the closing one */
}

/* Continues an item in p..end. Returns NULL if the sink stops. */
static const char *pass_item(struct framer *framer, const char *p, const char *end)
{
    const char *behind = json_scan(&framer->scan, p, end);
    if (!behind) {
        frame_keep(framer, p, (size_t)(end - p));
        return end;
    }
    framer->state = LIST_AFTER_ITEM;
    return frame_finish(framer, p, (size_t)(behind - p), (size_t)(end - behind)) ? behind : NULL;
}

/* Ends an item that is not an object, or keeps what has come of it. Returns NULL if the sink stops. */
static const char *end_item(struct framer *framer, const char *from, const char *p, const char *end,
                            bool ended)
{
    if (!ended) {
        frame_keep(framer, from, (size_t)(p - from));
        return end;
    }
    framer->state = LIST_AFTER_ITEM;
    return frame_finish(framer, from, (size_t)(p - from), (size_t)(end - p)) ? p : NULL;
}

static bool is_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '+' || c == '.';
}

static const char *pass_word_item(struct framer *framer, const char *p, const char *end)
{
    const char *from = p;
    while (p < end && is_of_word(*p)) p++;
    return end_item(framer, from, p, end, p < end);
}

static const char *pass_text_item(struct framer *framer, const char *p, const char *end)
{
    const char *from = p;
    bool ended;
    if (framer->seen == 0) p++; /* the opening quote must not be taken for the closing one */
    p = find_string_end(framer, p, end, &ended);
    return end_item(framer, from, p, end, ended);
}

/* Moves to the state behind a token; returns what was expected if the token may not come here. */
static const char *step(struct framer *framer, char c)
{
    struct buf *envelope = &framer->envelope;
    switch (framer->state) {
    case LIST_START:
        if (c != '{') return "'{'";
        framer->state = LIST_KEY_OR_END;
        break;
    case LIST_KEY_OR_END:
    case LIST_KEY:
        if (c == '}' && framer->state == LIST_KEY_OR_END)
            framer->state = LIST_WHOLE;
        else if (c == '"')
            framer->state = LIST_IN_KEY;
        else
            return "a field's name";
        framer->key_at = envelope->len;
        break;
    case LIST_COLON:
        if (c != ':') return "':'";
        framer->state = LIST_VALUE;
        break;
    case LIST_AFTER_VALUE:
        if (c != ',' && c != '}') return "',' or '}'";
        framer->state = c == ',' ? LIST_KEY : LIST_WHOLE;
        break;
    default: return "the end";
    }
    buf_putc(envelope, c);
    return NULL;
}

/* The same between the items, which are not in the envelope. */
static const char *step_items(struct framer *framer, char c)
{
    bool first = framer->state == LIST_ITEM_OR_END;
    if (framer->state == LIST_AFTER_ITEM) {
        if (c != ',' && c != ']') return "',' or ']'";
        framer->state = c == ',' ? LIST_ITEM : LIST_AFTER_VALUE;
    } else if (first && c == ']') {
        framer->state = LIST_AFTER_VALUE;
    } else if (c == '{' || c == '[') {
        framer->scan = (struct json_scan){0};
        framer->state = LIST_IN_ITEM;
    } else if (c == '"' || is_of_word(c)) { /* refused like any other malformed object */
        framer->state = c == '"' ? LIST_IN_TEXT_ITEM : LIST_IN_WORD_ITEM;
    } else {
        return "an object as item";
    }
    return NULL;
}

/* One token, or a stretch of one. NULL: the sink wants no more, or `err` says what is wrong. */
static const char *advance(struct framer *framer, const char *p, const char *end, const char **wanted)
{
    bool ended;
    switch (framer->state) {
    case LIST_IN_KEY:
        p = pass_string(framer, p, end, &ended);
        if (!ended) return p;
        unescape_name(&framer->envelope, framer->key_at);
        framer->key = plain_string(framer, framer->key_at);
        framer->state = LIST_COLON;
        return p;
    case LIST_IN_STRING:
        p = pass_string(framer, p, end, &ended);
        return !ended || end_value(framer) ? p : NULL;
    case LIST_IN_CONTAINER:
        p = pass_container(framer, p, end, &ended);
        return !ended || end_value(framer) ? p : NULL;
    case LIST_IN_SCALAR:
        p = pass_scalar(framer, p, end, &ended);
        return !ended || end_value(framer) ? p : NULL;
    case LIST_IN_ITEM: return pass_item(framer, p, end);
    case LIST_IN_WORD_ITEM: return pass_word_item(framer, p, end);
    case LIST_IN_TEXT_ITEM: return pass_text_item(framer, p, end);
    default: break;
    }
    if (is_blank(*p)) return p + 1;
    if (framer->state == LIST_VALUE) {
        begin_value(framer, *p);
        return framer->state == LIST_ITEM_OR_END || framer->state == LIST_IN_STRING ? p + 1 : p;
    }
    bool in_items = framer->state >= LIST_ITEM_OR_END && framer->state <= LIST_AFTER_ITEM;
    *wanted = in_items ? step_items(framer, *p) : step(framer, *p);
    if (*wanted) return NULL;
    return framer->state >= LIST_IN_ITEM && framer->state <= LIST_IN_TEXT_ITEM ? p : p + 1;
}

bool frame_feed_list(struct framer *framer, const char *data, size_t len, struct err *err)
{
    const char *p = data, *end = data + len, *wanted = NULL;
    while (p < end) {
        const char *next = advance(framer, p, end, &wanted);
        if (wanted)
            return err_set(err, ERR_PARSE, "malformed list: %s expected at byte %zu", wanted,
                           framer->consumed + (size_t)(p - data));
        if (!next) return false;
        if (framer->envelope.len > FRAME_ENVELOPE_MAX)
            return err_set(err, ERR_LIMIT, "the list has more than %d bytes besides its items",
                           FRAME_ENVELOPE_MAX);
        p = next;
    }
    framer->consumed += len;
    return true;
}

bool frame_end_list(struct framer *framer, struct err *err)
{
    if (framer->state != LIST_WHOLE)
        return err_set(err, ERR_CLOSED, "unexpected EOF: the list ended after %zu bytes", framer->consumed);
    buf_reserve(&framer->envelope, TAPE_PADDING);
    return !framer->sink.envelope ||
           framer->sink.envelope(framer->sink.ctx, framer->envelope.data, framer->envelope.len);
}
