/* YAML, event by event: each item of a list, or a whole document that is none, becomes JSON, and an object of
 * it. A tree of a document is never made; see input_reader.h. */
#include <string.h>

#include "audit/input_yaml.h"

enum { TYPE_TEXT_MAX = 256 };

struct head {
    size_t line;
    bool is_list; /* items were read */
    char kind[TYPE_TEXT_MAX], api_version[TYPE_TEXT_MAX];
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

static int hand_over(void *ctx, unsigned char *to, size_t room, size_t *got)
{
    struct input_yaml *y = ctx;
    struct input_window *w = &y->reader->window;
    *got = 0;
    y->is_text_long = y->since > y->reader->max;
    if (y->is_text_long) return 0;
    if (w->from == w->to && !input_window_more(w)) return 1;
    struct str text = input_window_text(w);
    *got = text.n < room ? text.n : room;
    memcpy(to, text.p, *got);
    w->from += *got; /* the parser counts lines */
    y->since += *got;
    return 1;
}

static void complain(struct input_yaml *y)
{
    struct input_reader *r = y->reader;
    const yaml_parser_t *p = &y->parser;
    const char *problem = p->problem ? p->problem : "not YAML", *context = p->context ? p->context : "";
    size_t here = line_of(y, p->mark);
    if (r->window.failed) {
        r->window.line = here; /* that is told by whoever reads the window */
    } else if (y->is_text_long) {
        input_refuse_text(r, here, ERR_LIMIT, "a text of more than %zu bytes (--max-object-size)", r->max);
    } else if (p->error == YAML_READER_ERROR) {
        input_refuse_text(r, here, ERR_PARSE, "neither JSON nor YAML: %s, at byte %zu", problem,
                          p->problem_offset);
    } else {
        input_refuse_text(r, line_of(y, p->problem_mark), ERR_PARSE, "invalid YAML: %s%s%s", problem,
                          *context ? " " : "", context);
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
    case FLAW_DEEP: input_refuse_text(r, line, ERR_LIMIT, "nested deeper than %d", PACK_DEPTH_MAX); break;
    case FLAW_KEY: input_refuse_text(r, line, ERR_PARSE, "a key that is no text"); break;
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
    if (!text.p || text.n >= TYPE_TEXT_MAX) return;
    memcpy(to, text.p, text.n);
    to[text.n] = '\0';
}

static bool read_items(struct input_yaml *y, struct head *head)
{
    struct input_type type = input_item_type(str_of(head->api_version), str_of(head->kind));
    type.pending = !*head->kind || !*head->api_version;
    head->is_list = true;
    buf_puts(&y->json, "[]");
    return read_elements(y, &type);
}

/* A key of the document's own map is at hand; the value follows. */
static bool read_entry(struct input_yaml *y, struct head *head)
{
    char key[TYPE_TEXT_MAX];
    copy_text(&y->event, key);
    if (y->json.len > y->start + 1) buf_putc(&y->json, ',');
    if (y->event.type != YAML_SCALAR_EVENT || !*key) {
        y->flaw = FLAW_KEY;
        y->flaw_line = input_yaml_line(y);
    }
    buf_json_string(&y->json, str_of(key));
    buf_putc(&y->json, ':');
    if (y->event.type != YAML_SCALAR_EVENT && !input_yaml_value(y)) return false;
    if (!input_yaml_next(y)) return false;
    if (strcmp(key, "kind") == 0) copy_text(&y->event, head->kind);
    if (strcmp(key, "apiVersion") == 0) copy_text(&y->event, head->api_version);
    if (strcmp(key, "items") == 0 && y->event.type == YAML_SEQUENCE_START_EVENT) return read_items(y, head);
    return input_yaml_value(y);
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
    y->json.len = y->start = 0;
    y->flaw = FLAW_NONE;
    input_anchors_clear(&y->anchors);
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

void input_read_yaml(struct input_reader *r)
{
    struct input_yaml y = {.reader = r, .line_base = r->window.line - 1};
    input_tokens_init(&y.tokens);
    yaml_parser_initialize(&y.parser);
    yaml_parser_set_input(&y.parser, hand_over, &y);
    read_stream(&y);
    yaml_event_delete(&y.event);
    yaml_parser_delete(&y.parser);
    input_anchors_clear(&y.anchors);
    input_tokens_clear(&y.tokens);
    buf_clear(&y.json);
}
