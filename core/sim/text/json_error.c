/* Errors of JSON in Go's words; see json_error.h. */
#include "sim/text/json_error.h"

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sim/text/tree.h"

enum { SUMMARY_MAX = 30 };

/* A Go decoder reads an object; it tells anything else by its type. */
#define HEAD_TYPE                                                                    \
    "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string " \
    "\"json:\\\"kind,omitempty\\\"\" }"

const char *sim_json_type(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT: return "object";
    case JSON_ARRAY: return "array";
    case JSON_STRING: return "string";
    case JSON_TRUE:
    case JSON_FALSE: return "bool";
    case JSON_NULL: return "null";
    default: return "number";
    }
}

/* The character as Go quotes it; a byte that is not ASCII is taken for a character of Latin-1. */
static char *bad_character(unsigned char c, const char *where)
{
    if (c < 0x80) return xasprintf("invalid character '%c' %s", c, where);
    return xasprintf("invalid character '%c%c' %s", 0xc0 | (c >> 6), 0x80 | (c & 0x3f), where);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static char *describe(struct str text, const json_error_t *error)
{
    enum json_error_code code = json_error_code(error);
    size_t at = 0;
    while (at < text.n && is_space(text.p[at])) at++;
    if (at == text.n || code == json_error_premature_end_of_input)
        return xasprintf("unexpected end of JSON input");
    if (!strchr("{[\"-0123456789tfn", text.p[at]))
        return bad_character((unsigned char)text.p[at], "looking for beginning of value");
    at = error->position > 0 ? (size_t)error->position - 1 : 0;
    if (at >= text.n) return xasprintf("unexpected end of JSON input");
    if (code == json_error_end_of_input_expected)
        return bad_character((unsigned char)text.p[at], "after top-level value");
    return bad_character((unsigned char)text.p[at], "looking for beginning of value");
}

json_t *sim_parse_as(struct str text, json_type type, const char *go_type, char **why)
{
    json_error_t error;
    json_t *value = sim_parse(text, JSON_DECODE_ANY, &error);
    *why = NULL;
    if (!value)
        *why = describe(text, &error);
    else if (json_typeof(value) != type && !json_is_null(value)) {
        *why = xasprintf("json: cannot unmarshal %s into Go value of type %s", sim_json_type(value), go_type);
        json_decref(value);
        value = NULL;
    }
    return value;
}

json_t *sim_parse_body(struct str text, char **why)
{
    return sim_parse_as(text, JSON_OBJECT, HEAD_TYPE, why);
}

const char *sim_number_problem(const char *text)
{
    return *text && !text[strspn(text, "0123456789")] ? "value out of range" : "invalid syntax";
}

char *sim_body_summary(struct str body)
{
    struct buf summary = {0};
    size_t n = body.n < SUMMARY_MAX ? body.n : SUMMARY_MAX;
    if (body.n == 0) buf_puts(&summary, "<empty>");
    for (size_t i = 0; i < n; i++) {
        if (body.p[0] == '{')
            buf_putc(&summary, body.p[i]);
        else
            buf_printf(&summary, "%02x", (unsigned char)body.p[i]);
    }
    if (body.n > n) buf_puts(&summary, " ...");
    return buf_take(&summary);
}
