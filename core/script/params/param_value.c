/* Values of parameters by their types; see param_value.h. */
#include "script/params/param_value.h"

#include <stdlib.h>

#include "object/parse/tape.h"

/* As simdjson has it, but for numbers and booleans, which have one letter each. */
enum param_form { FORM_OTHER, FORM_BOOLEAN = 't', FORM_NUMBER = 'd', FORM_TEXT = '"', FORM_LIST = '[' };

struct param_type {
    enum param_form form, element; /* `element` of a list */
};

/* A small document and what parses it. */
struct parsed {
    struct tape_parser *parser;
    struct buf text;
    struct tape tape;
};

static bool parse(struct parsed *p, struct str json)
{
    struct err ignored;
    *p = (struct parsed){.parser = tape_parser_new()};
    memset(buf_reserve(&p->text, json.n + TAPE_PADDING), 0, json.n + TAPE_PADDING);
    buf_str(&p->text, json);
    return json.n > 0 && tape_parse(p->parser, p->text.data, p->text.len, &p->tape, &ignored);
}

static void parsed_clear(struct parsed *p)
{
    tape_parser_free(p->parser);
    buf_clear(&p->text);
}

static enum param_form form_at(const struct tape *tape, size_t at)
{
    switch (tape_type(tape, at)) {
    case 't':
    case 'f': return FORM_BOOLEAN;
    case 'l':
    case 'u':
    case 'd': return FORM_NUMBER;
    case '"': return FORM_TEXT;
    case '[': return FORM_LIST;
    default: return FORM_OTHER;
    }
}

static bool all_are(const struct tape *tape, size_t list, enum param_form form)
{
    for (size_t at = tape_first(tape, list, NULL); at; at = tape_next(tape, list, at, NULL))
        if (form_at(tape, at) != form) return false;
    return true;
}

static struct param_type type_of(struct str json)
{
    struct parsed p;
    struct param_type type = {0};
    if (parse(&p, json)) {
        size_t root = tape_root(&p.tape), first = 0;
        type.form = form_at(&p.tape, root);
        if (type.form == FORM_LIST) first = tape_first(&p.tape, root, NULL);
        type.element = first ? form_at(&p.tape, first) : FORM_TEXT;
    }
    parsed_clear(&p);
    return type;
}

static bool is_of_type(struct str json, struct param_type type)
{
    struct parsed p;
    bool is = parse(&p, json);
    if (is) {
        size_t root = tape_root(&p.tape);
        is = form_at(&p.tape, root) == type.form &&
             (type.form != FORM_LIST || all_are(&p.tape, root, type.element));
    }
    parsed_clear(&p);
    return is;
}

/* Appends the given value as JSON, if it has one of these forms; only strings need quotes. */
static void write_scalar(struct str text, enum param_form form, struct buf *out)
{
    if (form == FORM_TEXT)
        buf_json_string(out, text);
    else
        buf_str(out, str_trim(text));
}

/* "a, b" */
static void write_list(struct str text, enum param_form element, struct buf *out)
{
    struct str rest = text, one;
    buf_putc(out, '[');
    for (bool first = true; str_trim(text).n && str_cut(&rest, ',', &one); first = false) {
        if (!first) buf_putc(out, ',');
        write_scalar(str_trim(one), element, out);
    }
    buf_putc(out, ']');
}

static void write_json(struct str given, bool is_json, struct param_type type, struct buf *out)
{
    if (is_json || (type.form == FORM_LIST && str_starts(str_trim(given), STR("["))))
        buf_str(out, given);
    else if (type.form == FORM_LIST)
        write_list(given, type.element, out);
    else
        write_scalar(given, type.form, out);
}

static const char *name_of(struct param_type type)
{
    if (type.form == FORM_BOOLEAN) return "must be true or false";
    if (type.form == FORM_NUMBER) return "is not a number";
    if (type.form == FORM_TEXT) return "is not a string";
    if (type.element == FORM_BOOLEAN) return "is not a list of booleans";
    return type.element == FORM_NUMBER ? "is not a list of numbers" : "is not a list of strings";
}

const char *param_value_type(struct str fallback)
{
    struct param_type type = type_of(fallback);
    if (type.form == FORM_BOOLEAN) return "true or false";
    if (type.form == FORM_NUMBER) return "a number";
    if (type.form == FORM_TEXT) return "a string";
    if (type.element == FORM_BOOLEAN) return "a list of booleans";
    return type.element == FORM_NUMBER ? "a list of numbers" : "a list of strings";
}

bool param_value_read(const struct param_given *given, bool is_secret, struct str fallback, struct buf *out,
                      struct err *err)
{
    enum { SHOWN = 80 };
    struct param_type type = type_of(fallback);
    struct buf json = {0};
    write_json(str_of(given->value), given->is_json, type, &json);
    bool ok = is_of_type(buf_slice(&json), type);
    if (ok)
        buf_str(out, buf_slice(&json));
    else if (is_secret)
        err_set(err, ERR_INVALID, "%s: the value %s", given->source, name_of(type));
    else
        err_set(err, ERR_INVALID, given->is_json ? "%s: %.*s %s" : "%s: \"%.*s\" %s", given->source, SHOWN,
                given->value, name_of(type));
    buf_wipe(&json);
    return ok;
}
