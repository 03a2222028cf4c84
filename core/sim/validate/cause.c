/* Causes; see cause.h. */
#include "sim/validate/cause.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sim/text/tree.h"

/* As Go prints numbers, in nearly all cases. */
#define SHOWN (JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15))

static const struct {
    const char *type, *text;
    bool shows_value;
} causes_known[] = {
    {"FieldValueInvalid", "Invalid value", true},     {"FieldValueNotSupported", "Unsupported value", true},
    {"FieldValueNotFound", "Not found", true},        {"FieldValueDuplicate", "Duplicate value", true},
    {"FieldValueTypeInvalid", "Invalid value", true}, {"FieldValueRequired", "Required value", false},
    {"FieldValueForbidden", "Forbidden", false},      {"FieldValueTooLong", "Too long", false},
    {"FieldValueTooMany", "Too many", true},
};

/* As Go quotes: control characters are "\x01", where JSON has "\u0001". */
static char *shown_as_go(const json_t *value)
{
    char *text = json_dumps(value, SHOWN);
    for (char *at = text; json_is_string(value) && (at = strstr(at, "\\u00"));) {
        at[1] = 'x';
        memmove(at + 2, at + 4, strlen(at + 4) + 1);
    }
    return text;
}

json_t *sim_cause(const char *type, const char *field, const json_t *value, const char *detail)
{
    struct buf body = {0};
    bool shows_value = false;
    for (size_t i = 0; i < ARRAY_LEN(causes_known); i++) {
        if (strcmp(type, causes_known[i].type) != 0) continue;
        buf_puts(&body, causes_known[i].text);
        shows_value = causes_known[i].shows_value;
    }
    char *shown = value && shows_value ? shown_as_go(value) : NULL;
    if (shown) buf_printf(&body, ": %s", shown);
    if (*detail) buf_printf(&body, ": %s", detail);
    free(shown);

    json_t *cause = json_pack("{ss so so}", "reason", type, "message", sim_string(buf_text(&body)), "field",
                              sim_string(field));
    buf_clear(&body);
    return cause;
}

void sim_add_problems(json_t *causes, const char *field, const char *text, struct buf *problems)
{
    json_t *value = sim_string(text);
    const char *rest = problems->len ? buf_text(problems) : NULL;
    while (rest) {
        const char *end = strstr(rest, "; ");
        char *one = end ? xasprintf("%.*s", (int)(end - rest), rest) : xstrdup(rest);
        json_array_append_new(causes, sim_cause("FieldValueInvalid", field, value, one));
        free(one);
        rest = end ? end + 2 : NULL;
    }
    json_decref(value);
    buf_clear(problems);
}

void sim_add_found(json_t *causes, const json_t *found)
{
    json_t *problem;
    size_t i;
    json_array_foreach ((json_t *)found, i, problem)
        json_array_append_new(causes, json_is_string(problem) || json_is_null(problem)
                                          ? json_incref(problem)
                                          : sim_cause(sim_text_at(json_array_get(problem, 0), ""),
                                                      sim_text_at(json_array_get(problem, 1), ""),
                                                      json_array_get(problem, 3),
                                                      sim_text_at(json_array_get(problem, 2), "")));
}

void sim_add_causes(json_t *causes, lua_State *L)
{
    json_t *found = sim_lua_found(L);
    sim_add_found(causes, found);
    json_decref(found);
}
