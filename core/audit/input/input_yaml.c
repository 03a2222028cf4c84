/* YAML, event by event: each item of a list, or a whole document that is none, becomes JSON, and an object of
 * it. A tree of a document is never made; see input_reader.h. */
#include <string.h>

#include "audit/input/input_yaml.h"

struct head {
    size_t line;
    bool is_list; /* items were read */
    char kind[INPUT_TYPE_MAX], api_version[INPUT_TYPE_MAX];
};

static size_t line_of(const struct input_yaml *y, yaml_mark_t mark)
{
    return y->line_base + mark.line + 1;
}

size_t input_yaml_line(const struct input_yaml *y)
{
    return line_of(y, y->event.start_mark);
}

/* --- events */

/* A line of three dashes or dots, perhaps with more behind them. */
static bool is_mark(struct str text, char c)
{
    if (text.n < 3 || text.p[0] != c || text.p[1] != c || text.p[2] != c) return false;
    return text.n == 3 || text.p[3] == ' ' || text.p[3] == '\t' || text.p[3] == '\n' || text.p[3] == '\r';
}

/* How much of it belongs to the document that the parser reads: dashes at the beginning of a line are nothing
 * else than the beginning of the next, whatever is before them. */
static size_t up_to_mark(struct input_yaml *y, struct str text)
{
    size_t at = 0;
    while (at < text.n) {
        struct str line = {text.p + at, text.n - at};
        if (!y->in_line) {
            if (line.n < 4 && !y->reader->window.ended) break; /* it could become one */
            y->at_mark = y->has_content && is_mark(line, '-');
            if (y->at_mark) break;
            if (is_mark(line, '.'))
                y->has_content = false;
            else if (!strchr("#%\r\n", *line.p) && !is_mark(line, '-'))
                y->has_content = true;
        }
        const char *end = memchr(line.p, '\n', line.n);
        at = end ? (size_t)(end - text.p) + 1 : text.n;
        y->in_line = !end;
    }
    return at;
}

static int hand_over(void *ctx, unsigned char *to, size_t room, size_t *got)
{
    struct input_yaml *y = ctx;
    struct input_window *w = &y->reader->window;
    *got = 0;
    y->is_text_long = y->since > y->reader->max;
    if (y->is_text_long) return 0;
    while (*got == 0 && !y->at_mark) {
        struct str text = input_window_text(w);
        if (text.n > room) text.n = room;
        *got = y->splits ? up_to_mark(y, text) : text.n;
        if (*got == 0 && !y->at_mark && !input_window_more(w) && w->from == w->to) return 1;
    }
    memcpy(to, w->data + w->from, *got);
    input_window_use(w, *got);
    y->since += *got;
    y->has_braces = y->has_braces || memmem(to, *got, "{{", 2);
    return 1;
}

/* What stands in double braces is for Helm, or another one that makes YAML of it. */
static const char *hint(const struct input_yaml *y)
{
    return y->has_braces ? "; it looks like a template ({{): render it first, for example with helm template"
                         : "";
}

static void complain(struct input_yaml *y)
{
    struct input_reader *r = y->reader;
    const yaml_parser_t *p = &y->parser;
    const char *problem = p->problem ? p->problem : "not YAML", *context = p->context ? p->context : "";
    size_t here = line_of(y, p->mark);
    if (r->window.failed) return; /* that is told by whoever reads the window */
    if (y->is_text_long) {
        input_refuse_text(r, here, ERR_LIMIT, "a text of more than %zu bytes (--max-object-size)", r->max);
    } else if (p->error == YAML_READER_ERROR) {
        input_refuse_text(r, here, ERR_PARSE, "neither JSON nor YAML: %s, at byte %zu", problem,
                          p->problem_offset);
    } else {
        input_refuse_text(r, line_of(y, p->problem_mark), ERR_PARSE, "invalid YAML: %s%s%s%s", problem,
                          *context ? " " : "", context, hint(y));
    }
}

bool input_yaml_next(struct input_yaml *y)
{
    if (y->reader->stopped) return false;
    yaml_event_delete(&y->event);
    if (!yaml_parser_parse(&y->parser, &y->event)) {
        complain(y);
        return false;
    }
    y->since = 0;
    return true;
}

/* --- values */

static void refuse_flaw(struct input_yaml *y)
{
    struct input_reader *r = y->reader;
    size_t line = y->flaw_line;
    switch (y->flaw) {
    case FLAW_LARGE: input_refuse_cut(r, CUT_LARGE, line); break;
    case FLAW_KEY: input_refuse_text(r, line, ERR_PARSE, "a key that is no text%s", hint(y)); break;
    case FLAW_TWICE:
        input_refuse_text(r, line, ERR_PARSE, "%.*s is there twice in one map",
                          STR_ARG(buf_slice(&y->twice)));
        break;
    case FLAW_MERGES:
        input_refuse_text(r, line, ERR_LIMIT, "what << merges moves more than %zu bytes (--max-object-size)",
                          r->max);
        break;
    case FLAW_MERGE: input_refuse_text(r, line, ERR_PARSE, "what << merges is no map"); break;
    case FLAW_ANCHOR:
        input_refuse_text(r, line, ERR_PARSE,
                          "an alias without an anchor (of which at most %d, and %zu bytes, are known)",
                          INPUT_ANCHORS_MAX, r->max);
        break;
    default: input_refuse_text(r, line, ERR_PARSE, "an alias inside of its own anchor"); break;
    }
}

/* What stands in the text from `start` on is done. */
static void take_made(struct input_yaml *y, const struct input_type *list, size_t line)
{
    struct input_piece piece;
    struct buf *json = &y->json;
    memset(buf_reserve(json, TAPE_PADDING), 0, TAPE_PADDING);
    struct str text = {json->data + y->start, json->len - y->start};
    if (y->flaw)
        refuse_flaw(y);
    else if (input_tokens_find(&y->tokens, text, &piece))
        input_take(y->reader, &piece, list, line);
    else
        input_take_damaged(y->reader, text, line);
    json->len = y->start;
    y->flaw = FLAW_NONE;
    y->merged = 0;
}

/* Elements of the sequence whose beginning is at hand, up to its end. */
static bool read_elements(struct input_yaml *y, const struct input_type *list)
{
    size_t outer = y->start;
    enum input_flaw flaw = y->flaw;
    y->start = y->json.len;
    y->flaw = FLAW_NONE;
    while (input_yaml_next(y)) {
        if (y->event.type == YAML_SEQUENCE_END_EVENT) {
            y->start = outer;
            y->flaw = flaw;
            return true;
        }
        size_t line = input_yaml_line(y);
        if (!input_yaml_value(y)) return false;
        take_made(y, list, line);
    }
    return false;
}

/* --- documents */

static void copy_text(const yaml_event_t *event, char *to)
{
    struct str text = input_yaml_text(event);
    *to = '\0';
    if (!text.p || text.n >= INPUT_TYPE_MAX) return;
    memcpy(to, text.p, text.n);
    to[text.n] = '\0';
}

static bool read_items(struct input_yaml *y, struct head *head)
{
    struct input_type type = input_item_type(str_of(head->api_version), str_of(head->kind));
    type.pending = !*head->kind || !*head->api_version;
    head->is_list = true;
    if (!y->flaw) buf_puts(&y->json, "[]");
    return read_elements(y, &type);
}

/* A key that is a scalar or an alias, as JSON. */
static void put_key(struct input_yaml *y, const char *key)
{
    if (y->json.len > y->start + 1) buf_putc(&y->json, ',');
    size_t from = y->json.len;
    buf_json_string(&y->json, str_of(key));
    if (!input_yaml_is_merge(&y->event))
        input_yaml_key(y, 0, (struct str){y->json.data + from, y->json.len - from});
    buf_putc(&y->json, ':');
}

/* A key of the document's own map is at hand; the value follows. */
static bool read_entry(struct input_yaml *y, struct head *head)
{
    char key[INPUT_TYPE_MAX];
    size_t entry = y->json.len;
    copy_text(&y->event, key);
    bool merges = input_yaml_is_merge(&y->event);
    if (y->event.type != YAML_SCALAR_EVENT || !*key) input_yaml_set_flaw(y, FLAW_KEY);
    if (!y->flaw) put_key(y, key);
    if (y->event.type != YAML_SCALAR_EVENT && !input_yaml_value(y)) return false;
    if (!input_yaml_next(y)) return false;
    if (strcmp(key, "kind") == 0) copy_text(&y->event, head->kind);
    if (strcmp(key, "apiVersion") == 0) copy_text(&y->event, head->api_version);
    if (strcmp(key, "items") == 0 && y->event.type == YAML_SEQUENCE_START_EVENT) return read_items(y, head);
    if (!input_yaml_value(y)) return false;
    if (merges && !y->flaw) input_yaml_merge(y, y->start + 1, entry);
    return true;
}

static bool read_map(struct input_yaml *y, struct head *head)
{
    buf_putc(&y->json, '{');
    while (input_yaml_next(y)) {
        if (y->event.type == YAML_MAPPING_END_EVENT) {
            if (!y->flaw) buf_putc(&y->json, '}');
            return true;
        }
        if (!read_entry(y, head)) return false;
    }
    return false;
}

static bool read_object(struct input_yaml *y)
{
    struct head head = {.line = input_yaml_line(y)};
    bool whole = read_map(y, &head);
    if (y->reader->stopped) return false;
    if (head.is_list) {
        if (y->flaw) refuse_flaw(y);
        struct input_type type = input_item_type(str_of(head.api_version), str_of(head.kind));
        input_take_late(y->reader, &type, head.line);
    } else if (whole) {
        take_made(y, NULL, head.line);
    }
    return whole;
}

static bool is_null(const yaml_event_t *event)
{
    struct str text = input_yaml_text(event);
    return text.p && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (!text.n || str_is(text, "null") || str_is(text, "~"));
}

/* The event at hand begins what the document is. */
static bool read_document(struct input_yaml *y)
{
    y->json.len = y->start = y->merged = 0;
    y->flaw = FLAW_NONE;
    input_anchors_clear(&y->anchors);
    input_keys_close(&y->keys, 0);
    if (is_null(&y->event)) return true;
    y->reader->counts->documents++;
    if (y->event.type == YAML_MAPPING_START_EVENT) return read_object(y);
    if (y->event.type == YAML_SEQUENCE_START_EVENT) return read_elements(y, NULL);
    input_refuse_text(y->reader, input_yaml_line(y), ERR_PARSE, "neither an object nor a list of them");
    return true;
}

static bool read_stream(struct input_yaml *y)
{
    while (input_yaml_next(y)) {
        if (y->event.type == YAML_STREAM_END_EVENT) return true;
        if (y->event.type != YAML_DOCUMENT_START_EVENT) continue;
        if (!input_yaml_next(y) || !read_document(y)) return false;
    }
    return false;
}

static bool is_mark_ahead(struct input_window *w)
{
    input_window_byte(w, 3);
    return is_mark(input_window_text(w), '-');
}

/* To the beginning of the next document, behind one that could not be read to its end. */
static void skip_to_mark(struct input_yaml *y)
{
    struct input_window *w = &y->reader->window;
    while (!y->at_mark && (w->from < w->to || input_window_more(w))) {
        if (y->in_line || !(y->at_mark = is_mark_ahead(w))) input_window_skip_line(w);
        y->in_line = false;
    }
}

static void read_part(struct input_yaml *y)
{
    y->line_base = y->reader->window.line - 1;
    y->since = 0;
    y->in_line = y->has_content = y->at_mark = false;
    yaml_parser_initialize(&y->parser);
    yaml_parser_set_input(&y->parser, hand_over, y);
    bool well = read_stream(y);
    yaml_event_delete(&y->event);
    yaml_parser_delete(&y->parser);
    if (!well && y->splits && !y->reader->stopped) skip_to_mark(y);
}

void input_read_yaml(struct input_reader *r, bool is_utf16)
{
    struct input_yaml y = {.reader = r, .splits = !is_utf16};
    input_tokens_init(&y.tokens);
    do read_part(&y);
    while (y.at_mark && !r->stopped);
    input_anchors_clear(&y.anchors);
    input_keys_clear(&y.keys);
    buf_clear(&y.twice);
    input_tokens_clear(&y.tokens);
    buf_clear(&y.json);
}
