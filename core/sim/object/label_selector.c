/* Label selectors, which lua/sim/selectors.lua reads and this matches (contract X-2), and requirements of all
 * selectors. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sim/object/selector.h"
#include "sim/object/selector_parts.h"
#include "sim/text/names.h"
#include "sim/text/text.h"
#include "sim/text/tree.h"

typedef bool name_check(struct str text, struct buf *problems);

/* Pushes what is wrong with the text that is the argument; nil for nothing. */
static int push_problem(lua_State *L, name_check *check)
{
    struct buf problems = {0};
    struct str text;
    text.p = luaL_checklstring(L, 1, &text.n);
    if (check(text, &problems))
        lua_pushnil(L);
    else
        lua_pushlstring(L, problems.data, problems.len);
    buf_clear(&problems);
    return 1;
}

static int l_key_problem(lua_State *L)
{
    return push_problem(L, sim_check_key);
}

static int l_value_problem(lua_State *L)
{
    return push_problem(L, sim_check_label_value);
}

static int l_is_integer(lua_State *L)
{
    int64_t number;
    lua_pushboolean(L, sim_parse_int64(luaL_checkstring(L, 1), &number));
    return 1;
}

struct sim_selector *sim_label_selector_parse(const char *text, char **message)
{
    *message = NULL;
    if (!text || !*text) return NEW(struct sim_selector);
    lua_State *L = sim_lua_take("sim.selectors", "labels");
    lua_pushstring(L, text);
    lua_pushcfunction(L, l_key_problem);
    lua_pushcfunction(L, l_value_problem);
    lua_pushcfunction(L, l_is_integer);
    return sim_selector_read(L, message);
}

bool sim_selector_matches_labels(const struct sim_selector *selector, const json_t *labels)
{
    for (size_t i = 0; i < selector->count; i++) {
        const struct sim_requirement *r = &selector->all[i];
        const json_t *value = json_object_get(labels, r->key);
        if (!sim_requirement_holds(r, json_is_string(value) ? json_string_value(value) : NULL)) return false;
    }
    return true;
}

/* --- Common part of label and field selectors: requirements, all of which must hold */

static bool has_value(const struct sim_requirement *r, const char *value)
{
    for (size_t i = 0; i < r->value_count; i++)
        if (strcmp(r->values[i], value) == 0) return true;
    return false;
}

bool sim_requirement_holds(const struct sim_requirement *r, const char *value)
{
    int64_t number;
    switch (r->op) {
    case SIM_IN: return value && has_value(r, value);
    case SIM_NOT_IN: return !value || !has_value(r, value);
    case SIM_EXISTS: return value != NULL;
    case SIM_ABSENT: return value == NULL;
    case SIM_GREATER: return value && sim_parse_int64(value, &number) && number > r->bound;
    case SIM_LESS: return value && sim_parse_int64(value, &number) && number < r->bound;
    }
    return false;
}

bool sim_selector_needs_object(const struct sim_selector *selector)
{
    return selector->needs_object;
}

void sim_selector_free(struct sim_selector *selector)
{
    if (!selector) return;
    for (size_t i = 0; i < selector->count; i++) {
        struct sim_requirement *r = &selector->all[i];
        for (size_t v = 0; v < r->value_count; v++) free(r->values[v]);
        free(r->values);
        free(r->key);
    }
    free(selector->all);
    free(selector);
}

static void read_requirement(struct sim_requirement *r, const json_t *given)
{
    static const char *const ops[] = {
        [SIM_IN] = "In",         [SIM_NOT_IN] = "NotIn",    [SIM_EXISTS] = "Exists",
        [SIM_ABSENT] = "Absent", [SIM_GREATER] = "Greater", [SIM_LESS] = "Less"};
    const json_t *values = json_object_get(given, "values");
    r->key = xstrdup(sim_text_at(given, "key"));
    while (strcmp(ops[r->op], sim_text_at(given, "op")) != 0) r->op++;
    r->value_count = json_array_size(values);
    r->values = xcalloc(r->value_count + 1, sizeof *r->values);
    for (size_t i = 0; i < r->value_count; i++)
        r->values[i] = xstrdup(sim_text_at(json_array_get(values, i), ""));
    if (r->op == SIM_GREATER || r->op == SIM_LESS) sim_parse_int64(r->values[0], &r->bound);
}

struct sim_selector *sim_selector_read(lua_State *L, char **message)
{
    json_t *result = sim_lua_call(L), *found = json_array_get(result, 1);
    struct sim_selector *selector = NULL;
    if (json_is_true(json_array_get(result, 0))) {
        selector = NEW(struct sim_selector);
        selector->count = json_array_size(found);
        selector->all = xcalloc(selector->count + 1, sizeof *selector->all);
        for (size_t i = 0; i < selector->count; i++)
            read_requirement(&selector->all[i], json_array_get(found, i));
    } else
        *message = xstrdup(sim_text_at(found, ""));
    json_decref(result);
    return selector;
}
