/* YAML by libyaml's document API; see yaml_file.h. */
#include "base/yaml/yaml_file.h"

#include <ctype.h>
#include <string.h>

#include "base/file.h"
#include "base/yaml/yaml_value.h"

enum { FILE_MAX = 16 << 20 };

struct yaml_file_reading {
    yaml_parser_t parser;
    struct str rest;
};

static int read_on(void *ctx, unsigned char *to, size_t room, size_t *got)
{
    struct yaml_file_reading *r = ctx;
    return yaml_hand_over(&r->parser, &r->rest, to, room, got);
}

static void begin(struct yaml_file_reading *r, struct str text)
{
    r->rest = text;
    yaml_parser_initialize(&r->parser);
    yaml_parser_set_input(&r->parser, read_on, r);
}

static bool complain(struct yaml_file *file, const yaml_parser_t *parser, struct err *err)
{
    const char *problem = parser->problem ? parser->problem : "not YAML";
    if (yaml_has_many_tags(parser))
        return err_set(err, ERR_LIMIT, "%s: more than %d %%TAG directives", file->path, YAML_TAGS_MAX);
    if (parser->error == YAML_READER_ERROR)
        return err_set(err, ERR_PARSE, "%s: byte %zu: %s", file->path, parser->problem_offset, problem);
    return err_set(err, ERR_PARSE, "%s:%zu: %s", file->path, parser->problem_mark.line + 1, problem);
}

/* Reads the events of the first document before libyaml builds a tree of it: the cost of that grows with the
 * square of the depth, and of the number of anchors and aliases. */
static bool check_cost(struct yaml_file *file, struct str text, struct err *err)
{
    struct yaml_file_reading r;
    yaml_event_t event;
    int depth = 0, names = 0;
    bool ok = true, more = true;
    begin(&r, text);
    while (ok && more) {
        if (!yaml_parser_parse(&r.parser, &event)) {
            ok = complain(file, &r.parser, err);
            break;
        }
        size_t line = event.start_mark.line + 1;
        depth += yaml_event_step(&event);
        names += event.type == YAML_ALIAS_EVENT || yaml_event_anchor(&event);
        more = event.type != YAML_DOCUMENT_END_EVENT && event.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
        if (depth > YAML_DEPTH_MAX)
            ok = err_set(err, ERR_LIMIT, "%s:%zu: nested deeper than %d", file->path, line, YAML_DEPTH_MAX);
        else if (names > YAML_ANCHORS_MAX)
            ok = err_set(err, ERR_LIMIT, "%s:%zu: more than %d anchors and aliases", file->path, line,
                         YAML_ANCHORS_MAX);
    }
    yaml_parser_delete(&r.parser);
    return ok;
}

bool yaml_file_parse(struct yaml_file *file, const char *path, struct str text, struct err *err)
{
    struct yaml_file_reading r;
    *file = (struct yaml_file){.path = path};
    if (!check_cost(file, text, err)) return false;
    begin(&r, text);
    file->loaded = yaml_parser_load(&r.parser, &file->document) == 1;
    if (!file->loaded) complain(file, &r.parser, err);
    yaml_parser_delete(&r.parser);
    return file->loaded;
}

bool yaml_file_load(struct yaml_file *file, const char *path, struct err *err)
{
    struct buf text = {0};
    *file = (struct yaml_file){.path = path};
    bool ok = file_read(path, FILE_MAX, &text, err) && yaml_file_parse(file, path, buf_slice(&text), err);
    buf_wipe(&text);
    return ok;
}

void yaml_file_clear(struct yaml_file *file)
{
    if (file->loaded) yaml_document_delete(&file->document);
    file->loaded = false;
}

yaml_node_t *yaml_file_root(struct yaml_file *file)
{
    return yaml_document_get_root_node(&file->document);
}

/* --- scalars */

static bool is_one_of(struct str text, const char *const *words)
{
    for (; *words; words++)
        if (str_is(text, *words)) return true;
    return false;
}

static size_t digits(const char *text)
{
    size_t n = 0;
    while (isdigit((unsigned char)text[n])) n++;
    return n;
}

/* Returns whether the text is a number in YAML and JSON; `text` is terminated. */
static bool is_number(const char *text)
{
    if (*text == '-') text++;
    size_t n = digits(text);
    if (n == 0 || (n > 1 && *text == '0')) return false;
    text += n;
    if (*text == '.') {
        n = digits(text + 1);
        if (n == 0) return false;
        text += n + 1;
    }
    if (*text != 'e' && *text != 'E') return !*text;
    text++;
    if (*text == '+' || *text == '-') text++;
    n = digits(text);
    return n > 0 && !text[n];
}

enum yaml_form yaml_form(const yaml_node_t *node)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL},
                             *const trues[] = {"true", "True", "TRUE", NULL},
                             *const falses[] = {"false", "False", "FALSE", NULL};
    struct str text = yaml_text(node);
    if (!node) return YAML_FORM_NULL;
    if (!text.p) return YAML_FORM_MORE;
    if (node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE) return YAML_FORM_TEXT;
    if (is_one_of(text, nulls)) return YAML_FORM_NULL;
    if (is_one_of(text, trues)) return YAML_FORM_TRUE;
    if (is_one_of(text, falses)) return YAML_FORM_FALSE;
    return strlen(text.p) == text.n && is_number(text.p) ? YAML_FORM_NUMBER : YAML_FORM_TEXT;
}

/* Returns whether the scalar contains "\0", which YAML allows; a C string would end there. */
static bool has_nul(const yaml_node_t *node)
{
    return str_has_nul(yaml_text(node));
}

bool yaml_read_text(const yaml_node_t *node, struct str *out, struct err *err)
{
    enum yaml_form form = yaml_form(node);
    *out = (struct str){0};
    if (form == YAML_FORM_NULL) return true;
    if (form == YAML_FORM_MORE) return err_set(err, ERR_INVALID, "not a string");
    if (has_nul(node)) return err_set(err, ERR_INVALID, "must not contain a NUL byte");
    *out = yaml_text(node);
    return form == YAML_FORM_TEXT || err_set(err, ERR_INVALID, "must be a string, not %s; quote it",
                                             form == YAML_FORM_NUMBER ? "a number" : "true or false");
}

bool yaml_read_flag(const yaml_node_t *node, bool *out, struct err *err)
{
    enum yaml_form form = yaml_form(node);
    *out = form == YAML_FORM_TRUE;
    return *out || form == YAML_FORM_FALSE || form == YAML_FORM_NULL ||
           err_set(err, ERR_INVALID, "must be true or false");
}

bool yaml_check_list(const yaml_node_t *node, struct err *err)
{
    return yaml_form(node) == YAML_FORM_NULL || node->type == YAML_SEQUENCE_NODE ||
           err_set(err, ERR_INVALID, "not a list");
}

bool yaml_check_texts(struct yaml_file *file, yaml_node_t *node, struct err *err)
{
    yaml_node_t *text;
    struct str ignored;
    if (!yaml_check_list(node, err)) return false;
    for (size_t i = 0; (text = yaml_next(file, node, &i));)
        if (!yaml_read_text(text, &ignored, NULL))
            return err_set(err, ERR_INVALID,
                           has_nul(text) ? "a string must not contain a NUL byte" : "not a list of strings");
    return true;
}

/* --- nodes */

yaml_node_t *yaml_next_entry(struct yaml_file *file, yaml_node_t *map, size_t *index, struct str *key)
{
    if (!map || map->type != YAML_MAPPING_NODE) return NULL;
    yaml_node_pair_t *pair = map->data.mapping.pairs.start + *index;
    if (pair >= map->data.mapping.pairs.top) return NULL;
    (*index)++;
    *key = yaml_text(yaml_document_get_node(&file->document, pair->key));
    return yaml_document_get_node(&file->document, pair->value);
}

yaml_node_t *yaml_get(struct yaml_file *file, yaml_node_t *map, const char *key)
{
    struct str name;
    yaml_node_t *value;
    for (size_t i = 0; (value = yaml_next_entry(file, map, &i, &name));)
        if (str_is(name, key)) return yaml_form(value) == YAML_FORM_NULL ? NULL : value;
    return NULL;
}

yaml_node_t *yaml_next(struct yaml_file *file, yaml_node_t *sequence, size_t *index)
{
    if (!sequence || sequence->type != YAML_SEQUENCE_NODE) return NULL;
    yaml_node_item_t *item = sequence->data.sequence.items.start + *index;
    if (item >= sequence->data.sequence.items.top) return NULL;
    (*index)++;
    return yaml_document_get_node(&file->document, *item);
}

struct str yaml_text(const yaml_node_t *node)
{
    if (!node || node->type != YAML_SCALAR_NODE) return (struct str){0};
    return (struct str){(const char *)node->data.scalar.value, node->data.scalar.length};
}
