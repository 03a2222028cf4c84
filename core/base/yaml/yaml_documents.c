/* YAML as JSON; see yaml_documents.h. */
#include "base/yaml/yaml_documents.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/yaml/yaml_file.h"
#include "base/yaml/yaml_value.h"

/* --- Nodes */

enum { DEPTH_MAX = 50, JSON_MAX = 1 << 20, WHOLE_MAX = 64 << 20 }; /* aliases can expand a short text */

struct yaml_writing {
    struct yaml_file *file;
    struct buf *out;
    size_t max;
    bool cut;
};

static void write_scalar(const yaml_node_t *node, struct buf *out)
{
    static const char *const words[] = {"null", "true", "false"};
    enum yaml_form form = yaml_form(node);
    if (form == YAML_FORM_TEXT)
        buf_json_string(out, yaml_text(node));
    else if (form == YAML_FORM_NUMBER)
        buf_str(out, yaml_text(node));
    else
        buf_puts(out, words[form]);
}

static void write_node(struct yaml_writing *w, yaml_node_t *node, int depth)
{
    struct buf *out = w->out;
    yaml_node_t *child;
    struct str key;
    size_t i = 0;
    if (!node || depth > DEPTH_MAX || out->len > w->max) {
        w->cut |= node != NULL;
        buf_puts(out, "null");
    } else if (node->type == YAML_SEQUENCE_NODE) {
        buf_putc(out, '[');
        for (bool first = true; (child = yaml_next(w->file, node, &i)); first = false) {
            if (!first) buf_putc(out, ',');
            write_node(w, child, depth + 1);
        }
        buf_putc(out, ']');
    } else if (node->type == YAML_MAPPING_NODE) {
        buf_putc(out, '{');
        for (bool first = true; (child = yaml_next_entry(w->file, node, &i, &key)); first = false) {
            if (!first) buf_putc(out, ',');
            buf_json_string(out, key);
            buf_putc(out, ':');
            write_node(w, child, depth + 1);
        }
        buf_putc(out, '}');
    } else {
        write_scalar(node, out);
    }
}

void yaml_json(struct yaml_file *file, yaml_node_t *node, struct buf *out)
{
    struct yaml_writing w = {file, out, JSON_MAX, false};
    write_node(&w, node, 0);
}

bool yaml_json_whole(struct yaml_file *file, yaml_node_t *node, struct buf *out)
{
    struct yaml_writing w = {file, out, WHOLE_MAX, false};
    write_node(&w, node, 0);
    return !w.cut;
}

/* --- texts */

struct yaml_reading {
    struct yaml_value value;
    const struct yaml_source *source;
    struct str rest;
    bool stopped;
};

static bool stops(struct yaml_reading *r)
{
    r->stopped = r->stopped || (r->source->stops && r->source->stops(r->source->ctx));
    return r->stopped;
}

static int read_on(void *ctx, unsigned char *to, size_t room, size_t *got)
{
    struct yaml_reading *r = ctx;
    return yaml_hand_over(&r->value.parser, &r->rest, to, room, got) && !stops(r);
}

static bool next_event(struct yaml_value *value)
{
    struct yaml_reading *r = container_of(value, struct yaml_reading, value);
    yaml_event_delete(&value->event);
    return !stops(r) && yaml_parser_parse(&value->parser, &value->event);
}

/* As Go words it: without the context, and with lines from 0, but from 1 for what the scanner finds. */
static bool set_go_error(const yaml_parser_t *p, struct err *err)
{
    size_t line = p->problem_mark.line;
    line = line ? line + (p->error == YAML_SCANNER_ERROR) : p->context_mark.line;
    err_set(err, ERR_PARSE, "%s", p->problem ? p->problem : "unknown problem parsing YAML content");
    return line ? err_wrap(err, "yaml: line %zu", line) : err_wrap(err, "yaml");
}

/* Sets the error with the line of the mistake; returns false. */
static bool set_error(const struct yaml_reading *r, struct err *err)
{
    const yaml_parser_t *p = &r->value.parser;
    const char *problem = p->problem ? p->problem : "not YAML", *context = p->context ? p->context : "";
    if (r->stopped) return err_set(err, ERR_CANCELLED, "stopped");
    bool go_stops = r->source->as_go && p->error && !yaml_has_many_tags(p);
    if (go_stops) return set_go_error(p, err); /* Go looks for other mistakes after the whole text */
    if (r->value.flaw) {
        yaml_value_describe_flaw(&r->value, err);
        return err_wrap(err, "%sline %zu", r->source->as_go ? "yaml: " : "", r->value.flaw_line);
    }
    if (yaml_has_many_tags(p))
        return err_set(err, ERR_LIMIT, "line %zu: more than %d %%TAG directives",
                       yaml_value_line_of(&r->value, p->mark), YAML_TAGS_MAX);
    return err_set(err, ERR_PARSE, "line %zu: %s%s%s",
                   yaml_value_line_of(&r->value, p->error == YAML_READER_ERROR ? p->mark : p->problem_mark),
                   problem, *context ? " " : "", context);
}

static bool is_nothing(const yaml_event_t *event)
{
    return event->type == YAML_SCALAR_EVENT && event->data.scalar.length == 0 && !event->data.scalar.tag &&
           event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

/* Reads a document, whose value begins with the current event. */
static bool read_document(struct yaml_reading *r, bool first, struct buf *out, struct err *err)
{
    if (!first && r->source->alone)
        return err_set(err, ERR_PARSE, "line %zu: a second document", yaml_value_line(&r->value));
    if (!yaml_value_read(&r->value) || r->value.flaw) return set_error(r, err);
    if (!first) buf_putc(out, ',');
    buf_str(out, buf_slice(&r->value.json));
    if (out->len <= r->value.max) return true;
    yaml_value_set_flaw(&r->value, YAML_LARGE);
    return set_error(r, err);
}

static bool read_documents(struct yaml_reading *r, struct buf *out, struct err *err)
{
    bool first = true;
    while (next_event(&r->value)) {
        if (r->value.event.type == YAML_STREAM_END_EVENT) return true;
        if (r->value.event.type != YAML_DOCUMENT_START_EVENT) continue;
        if (!next_event(&r->value)) break;
        yaml_value_begin(&r->value);
        bool nothing = is_nothing(&r->value.event);
        if (!nothing && !read_document(r, first, out, err)) return false;
        if (r->source->first) return true;
        first = first && nothing;
    }
    return set_error(r, err);
}

static bool read_source(const struct yaml_source *source, struct buf *out, struct err *err)
{
    struct yaml_reading r = {.value = {.next = next_event,
                                       .max = source->max,
                                       .max_name = source->max_name,
                                       .fractions_stay = true},
                             .source = source,
                             .rest = source->text};
    buf_putc(out, '[');
    yaml_parser_initialize(&r.value.parser);
    yaml_parser_set_input(&r.value.parser, read_on, &r);
    bool ok = read_documents(&r, out, err);
    yaml_event_delete(&r.value.event);
    yaml_parser_delete(&r.value.parser);
    yaml_value_clear(&r.value);
    buf_putc(out, ']');
    return ok;
}

/* Makes each "\/" an escape that no YAML knows; returns false if there is none. */
static bool spoil_slashes(struct str text, struct buf *out)
{
    if (text.n == 0 || !memmem(text.p, text.n, "\\/", 2)) return false;
    buf_str(out, text);
    for (size_t i = 0; i + 1 < out->len; i++)
        if (out->data[i] == '\\' && out->data[++i] == '/') out->data[i] = 'q';
    return true;
}

bool yaml_read_source(const struct yaml_source *source, struct buf *out, struct err *err)
{
    struct yaml_source spoilt = *source;
    struct buf text = {0};
    size_t from = out->len;
    bool ok = true;
    /* A text with such an escape has one between double quotes; other mistakes, such as a key that stands
     * twice only now, are not its own. */
    if (source->as_go && spoil_slashes(source->text, &text)) {
        spoilt.text = buf_slice(&text);
        ok = read_source(&spoilt, out, err) || !strstr(err->text, "unknown escape");
        out->len = from;
    }
    buf_clear(&text);
    return ok && read_source(source, out, err);
}
