/* Reader of YAML, event by event: each item of a list, or a complete document that is none, becomes JSON, and
 * that an object. No tree of a document is built; see input_reader.h. */
#include <string.h>

#include "audit/input/input_reader.h"
#include "base/mem.h"
#include "base/yaml/yaml_value.h"
#include "object/pack/pack.h"

_Static_assert((int)YAML_DEPTH_MAX == (int)PACK_DEPTH_MAX, "what can be read can be kept");

struct input_yaml {
    struct yaml_value value;
    struct input_reader *reader;
    struct input_tokens tokens;
    size_t since;      /* bytes passed to the parser since the last event */
    bool has_braces;   /* text passed to the parser contained {{ */
    bool is_text_long; /* passing was stopped, as there was no event for so long */
    /* The parser gets one document at a time, where its end can be found: an error then affects that document
     * alone. */
    bool splits;
    bool in_line, has_content; /* passed text ends inside of a line; has more than comments and marks */
    bool at_mark;              /* the next document begins at the window */
};

struct yaml_head {
    size_t line;
    bool is_list; /* items have been read */
    char kind[INPUT_TYPE_MAX], api_version[INPUT_TYPE_MAX];
};

/* --- events */

/* Returns whether the text is a line of three dashes or dots, perhaps with more after them. */
static bool is_mark(struct str text, char c)
{
    if (text.n < 3 || text.p[0] != c || text.p[1] != c || text.p[2] != c) return false;
    return text.n == 3 || text.p[3] == ' ' || text.p[3] == '\t' || text.p[3] == '\n' || text.p[3] == '\r';
}

/* Returns how much of the text belongs to the document that the parser reads: dashes at the beginning of a
 * line always begin the next document, whatever precedes them. */
static size_t up_to_mark(struct input_yaml *y, struct str text)
{
    size_t at = 0;
    while (at < text.n) {
        struct str line = {text.p + at, text.n - at};
        if (!y->in_line) {
            if (line.n < 4 && !y->reader->window.ended) break; /* may become a mark with more bytes */
            y->at_mark = y->has_content && is_mark(line, '-');
            if (y->at_mark) break;
            if (is_mark(line, '.'))
                y->has_content = false;
            else if (is_mark(line, '-'))
                y->has_content =
                    line.n > 3 && !strchr("\r\n", line.p[3]); /* the document may be on this line */
            else if (!strchr("#%\r\n", *line.p))
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
    if (y->is_text_long || yaml_has_many_tags(&y->value.parser)) return 0;
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

/* Returns a hint for the error: text with double braces is a template, of Helm or another tool that makes
 * YAML of it. */
static const char *hint(const struct input_yaml *y)
{
    return y->has_braces ? "; it looks like a template ({{): render it first, for example with helm template"
                         : "";
}

static void complain(struct input_yaml *y)
{
    struct input_reader *r = y->reader;
    const yaml_parser_t *p = &y->value.parser;
    const char *problem = p->problem ? p->problem : "not YAML", *context = p->context ? p->context : "";
    size_t here = yaml_value_line_of(&y->value, p->mark);
    if (r->window.failed) return; /* the reader of the window reports that */
    if (y->is_text_long) {
        input_refuse_text(r, here, ERR_LIMIT, "document exceeds %zu bytes (%s)", r->max, r->max_name);
    } else if (yaml_has_many_tags(p)) {
        input_refuse_text(r, here, ERR_LIMIT, "more than %d %%TAG directives", YAML_TAGS_MAX);
    } else if (p->error == YAML_READER_ERROR) {
        input_refuse_text(r, here, ERR_PARSE, "neither JSON nor YAML: %s, at byte %zu", problem,
                          p->problem_offset);
    } else {
        input_refuse_text(r, yaml_value_line_of(&y->value, p->problem_mark), ERR_PARSE,
                          "invalid YAML: %s%s%s%s", problem, *context ? " " : "", context, hint(y));
    }
}

static bool next(struct yaml_value *value)
{
    struct input_yaml *y = container_of(value, struct input_yaml, value);
    if (y->reader->stopped) return false;
    yaml_event_delete(&y->value.event);
    if (!yaml_parser_parse(&y->value.parser, &y->value.event)) {
        complain(y);
        return false;
    }
    y->since = 0;
    return true;
}

/* --- values */

static void refuse_flaw(struct input_yaml *y)
{
    struct err err;
    if (y->value.flaw == YAML_LARGE) {
        input_refuse_cut(y->reader, CUT_LARGE, y->value.flaw_line);
        return;
    }
    yaml_value_describe_flaw(&y->value, &err);
    if (y->value.flaw == YAML_BAD_KEY) err_append(&err, "%s", hint(y));
    input_refuse(y->reader, y->value.flaw_line, &err);
}

static bool read_value(struct input_yaml *y)
{
    bool whole = yaml_value_read(&y->value);
    if (y->value.flaw != YAML_DEEP) return whole;
    refuse_flaw(y);
    y->value.flaw = YAML_NO_FLAW;
    return false;
}

/* Passes on the complete value from `start` on, or reports its flaw. */
static void take_made(struct input_yaml *y, const struct input_type *list, size_t line)
{
    struct input_piece piece;
    struct buf *json = &y->value.json;
    memset(buf_reserve(json, TAPE_PADDING), 0, TAPE_PADDING);
    struct str text = {json->data + y->value.start, json->len - y->value.start};
    if (y->value.flaw)
        refuse_flaw(y);
    else if (input_tokens_find(&y->tokens, text, &piece))
        input_take(y->reader, &piece, list, line);
    else
        input_take_damaged(y->reader, text, line);
    json->len = y->value.start;
    y->value.flaw = YAML_NO_FLAW;
    y->value.merged = 0;
}

/* Reads the elements of the sequence that begins with the current event, up to its end. */
static bool read_elements(struct input_yaml *y, const struct input_type *list)
{
    size_t outer = y->value.start;
    enum yaml_flaw flaw = y->value.flaw;
    y->value.start = y->value.json.len;
    y->value.flaw = YAML_NO_FLAW;
    while (next(&y->value)) {
        if (y->value.event.type == YAML_SEQUENCE_END_EVENT) {
            y->value.start = outer;
            y->value.flaw = flaw;
            return true;
        }
        size_t line = yaml_value_line(&y->value);
        if (!read_value(y)) return false;
        take_made(y, list, line);
    }
    return false;
}

/* --- documents */

static void copy_text(const yaml_event_t *event, char *to)
{
    struct str text = yaml_event_text(event);
    *to = '\0';
    if (!text.p || text.n >= INPUT_TYPE_MAX) return;
    memcpy(to, text.p, text.n);
    to[text.n] = '\0';
}

static bool read_items(struct input_yaml *y, struct yaml_head *head)
{
    struct input_type type = input_item_type(str_of(head->api_version), str_of(head->kind));
    type.pending = !*head->kind || !*head->api_version;
    head->is_list = true;
    if (!y->value.flaw) buf_puts(&y->value.json, "[]");
    return read_elements(y, &type);
}

/* Appends a key that is a scalar or an alias, as JSON. */
static void put_key(struct input_yaml *y, const char *key)
{
    if (y->value.json.len > y->value.start + 1) buf_putc(&y->value.json, ',');
    size_t from = y->value.json.len;
    buf_json_string(&y->value.json, str_of(key));
    if (!yaml_event_is_merge(&y->value.event))
        yaml_value_key(&y->value, 0, (struct str){y->value.json.data + from, y->value.json.len - from});
    buf_putc(&y->value.json, ':');
}

/* Reads the entry of the current key of the document's own map. */
static bool read_entry(struct input_yaml *y, struct yaml_head *head)
{
    char key[INPUT_TYPE_MAX];
    size_t entry = y->value.json.len;
    copy_text(&y->value.event, key);
    bool merges = yaml_event_is_merge(&y->value.event);
    if (y->value.event.type != YAML_SCALAR_EVENT || !*key) yaml_value_set_flaw(&y->value, YAML_BAD_KEY);
    if (!y->value.flaw) put_key(y, key);
    if (y->value.event.type != YAML_SCALAR_EVENT && !read_value(y)) return false;
    if (!next(&y->value)) return false;
    if (strcmp(key, "kind") == 0) copy_text(&y->value.event, head->kind);
    if (strcmp(key, "apiVersion") == 0) copy_text(&y->value.event, head->api_version);
    if (strcmp(key, "items") == 0 && y->value.event.type == YAML_SEQUENCE_START_EVENT)
        return read_items(y, head);
    if (!read_value(y)) return false;
    if (merges && !y->value.flaw) yaml_value_merge(&y->value, y->value.start + 1, entry);
    return true;
}

static bool read_map(struct input_yaml *y, struct yaml_head *head)
{
    buf_putc(&y->value.json, '{');
    while (next(&y->value)) {
        if (y->value.event.type == YAML_MAPPING_END_EVENT) {
            if (!y->value.flaw) buf_putc(&y->value.json, '}');
            return true;
        }
        if (!read_entry(y, head)) return false;
    }
    return false;
}

static bool read_object(struct input_yaml *y)
{
    struct yaml_head head = {.line = yaml_value_line(&y->value)};
    bool whole = read_map(y, &head);
    if (y->reader->stopped) return false;
    if (head.is_list) {
        if (y->value.flaw) refuse_flaw(y);
        struct input_type type = input_item_type(str_of(head.api_version), str_of(head.kind));
        input_take_late(y->reader, &type, head.line);
    } else if (whole) {
        take_made(y, NULL, head.line);
    }
    return whole;
}

static bool is_null(const yaml_event_t *event)
{
    struct str text = yaml_event_text(event);
    return text.p && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (!text.n || str_is(text, "null") || str_is(text, "~"));
}

/* Reads a document, whose value begins with the current event. */
static bool read_document(struct input_yaml *y)
{
    yaml_value_begin(&y->value);
    if (is_null(&y->value.event)) return true;
    y->reader->counts->documents++;
    if (y->value.event.type == YAML_MAPPING_START_EVENT) return read_object(y);
    if (y->value.event.type == YAML_SEQUENCE_START_EVENT) return read_elements(y, NULL);
    input_refuse_text(y->reader, yaml_value_line(&y->value), ERR_PARSE,
                      "neither an object nor a list of them");
    return true;
}

static bool read_stream(struct input_yaml *y)
{
    while (next(&y->value)) {
        if (y->value.event.type == YAML_STREAM_END_EVENT) return true;
        if (y->value.event.type != YAML_DOCUMENT_START_EVENT) continue;
        if (!next(&y->value) || !read_document(y)) return false;
    }
    return false;
}

static bool is_mark_ahead(struct input_window *w)
{
    input_window_byte(w, 3);
    return is_mark(input_window_text(w), '-');
}

/* Skips to the next document, after one that could not be read to its end. */
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
    y->value.line_base = y->reader->window.line - 1;
    y->since = 0;
    y->in_line = y->has_content = y->at_mark = false;
    yaml_parser_initialize(&y->value.parser);
    yaml_parser_set_input(&y->value.parser, hand_over, y);
    bool well = read_stream(y);
    yaml_event_delete(&y->value.event);
    yaml_parser_delete(&y->value.parser);
    if (!well && y->splits && !y->reader->stopped) skip_to_mark(y);
}

void input_read_yaml(struct input_reader *r, bool is_utf16)
{
    struct input_yaml y = {
        .value = {.next = next, .max = r->max, .max_name = r->max_name}, .reader = r, .splits = !is_utf16};
    input_tokens_init(&y.tokens);
    do read_part(&y);
    while (y.at_mark && !r->stopped);
    yaml_value_clear(&y.value);
    input_tokens_clear(&y.tokens);
}
