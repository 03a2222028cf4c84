/* Values of parameters by their types; see rule_value.h. */
#include "script/rules/rule_value.h"

#include <stdlib.h>

#include "informer/shared/shared_factory.h"
#include "object/pack/pack.h"
#include "object/parse/tape.h"
#include "script/rules/rule_params.h"
#include "script/view/json_encode.h"
#include "script/view/view.h"
#include "script/vm/args.h"

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

const char *rule_value_type(struct str fallback)
{
    struct param_type type = type_of(fallback);
    if (type.form == FORM_BOOLEAN) return "true or false";
    if (type.form == FORM_NUMBER) return "a number";
    if (type.form == FORM_TEXT) return "a string";
    if (type.element == FORM_BOOLEAN) return "a list of booleans";
    return type.element == FORM_NUMBER ? "a list of numbers" : "a list of strings";
}

bool rule_value_read(struct str given, bool is_json, struct str fallback, struct buf *out, struct err *err)
{
    enum { SHOWN = 80 };
    struct param_type type = type_of(fallback);
    struct buf json = {0};
    write_json(given, is_json, type, &json);
    bool ok = is_of_type(buf_slice(&json), type);
    struct str shown = {given.p, given.n < SHOWN ? given.n : SHOWN};
    if (ok)
        buf_str(out, buf_slice(&json));
    else
        err_set(err, ERR_INVALID, is_json ? "%.*s %s" : "\"%.*s\" %s", STR_ARG(shown), name_of(type));
    buf_clear(&json);
    return ok;
}

/* --- raw.rule.param: what holds for a parameter that a rule declares */

/* The operator's mistake, not the script's: it is told by what he gave. */
__attribute__((noreturn)) static void raise_given(lua_State *L, const char *id, struct str fallback,
                                                  const struct err *err)
{
    enum { SHOWN = 80 };
    lua_Debug ar;
    if (script_where(L, &ar))
        lua_pushfstring(L, "%s, as rule %s (%s:%d) has ", err->text, id, ar.short_src, ar.currentline);
    else
        lua_pushfstring(L, "%s, as rule %s has ", err->text, id);
    lua_pushlstring(L, fallback.p, fallback.n < SHOWN ? fallback.n : SHOWN);
    lua_concat(L, 2);
    lua_error(L);
    __builtin_unreachable();
}

/* An array is a view, which nobody can change. `json` is { "v": value } with padding behind it. */
static void push_value(lua_State *L, const struct buf *json)
{
    static const struct pack_type type = {
        .api_version = {"v1", 2}, .kind = {"Parameter", 9}, .always = true, .nameless = true};
    struct packer *packer = shared_factory_packer(script_of(L)->host->cluster->factory);
    struct root *root;
    struct err err;
    if (!pack_text(packer, json->data, json->len, &type, &root, &err))
        script_raise(L, "k8s.rule: params: %s", err.text);
    view_push_object(L, root);
    root_unref(root); /* the view has it */
    view_push_value(L, root, value_field(root_value(root), STR("v")));
    lua_remove(L, -2);
    if (int64_test(L, -1)) lua_pushnumber(L, strtod(json->data + sizeof "{\"v\":" - 1, NULL));
}

int l_rule_param(lua_State *L)
{
    struct script *script = script_of(L);
    const char *id = arg_str(L, 1, "k8s.rule: id").p;
    struct str name = arg_str(L, 2, "k8s.rule: params"), fallback;
    struct err err;
    luaL_checkany(L, 3);
    lua_settop(L, 3);
    const struct buf *encoded = json_encode(L, 3, "k8s.rule: params", RULE_PARAM_BYTES_MAX);
    lua_pushlstring(L, encoded->data, encoded->len);
    fallback.p = lua_tolstring(L, 4, &fallback.n);
    struct buf *out = script_scratch(script);
    if (!rule_params_value(script->host->params, id, name, fallback, out, &err))
        raise_given(L, id, fallback, &err);
    lua_pushlstring(L, out->data, out->len);
    out = script_scratch(script);
    buf_puts(out, "{\"v\":");
    buf_str(out, (struct str){own_text(L, 5), lua_objlen(L, 5)});
    buf_putc(out, '}');
    memset(buf_reserve(out, TAPE_PADDING), 0, TAPE_PADDING);
    push_value(L, out);
    lua_pushvalue(L, 4);
    lua_pushvalue(L, 5);
    return 3;
}
