/* More of raw.test: what goes wrong in a cluster, and what other servers answer; see bind_test.c. */
#include "script/specs/bind_spec_internal.h"
#include "script/vm/args.h"

static const char *text_of(lua_State *L, const char *key)
{
    lua_getfield(L, 2, key);
    const char *text = lua_isnil(L, -1) ? NULL : arg_str(L, -1, key).p;
    lua_pop(L, 1); /* the table holds it */
    return text;
}

static int number_of(lua_State *L, const char *key, int otherwise)
{
    lua_getfield(L, 2, key);
    int n = lua_isnil(L, -1) ? otherwise : (int)luaL_checkinteger(L, -1);
    lua_pop(L, 1);
    return n;
}

static int64_t delay_of(lua_State *L)
{
    lua_getfield(L, 2, "delay_ms");
    int64_t ms = lua_isnil(L, -1) ? 0 : (int64_t)luaL_checknumber(L, -1); /* of raw.test.duration */
    lua_pop(L, 1);
    return ms;
}

/* rule(engine, table) */
static int l_rule(lua_State *L)
{
    struct err err;
    struct test_engine *engine = test_engine_arg(L);
    arg_table(L, 2, "rule");
    const struct test_rule rule = {.id = number_of(L, "id", 0),
                                   .verb = text_of(L, "verb"),
                                   .kind = text_of(L, "kind"),
                                   .namespace_ = text_of(L, "namespace"),
                                   .name = text_of(L, "name"),
                                   .subresource = text_of(L, "subresource"),
                                   .reason = text_of(L, "reason"),
                                   .message = text_of(L, "message"),
                                   .code = number_of(L, "code", 0),
                                   .retry_after_s = number_of(L, "retry_after", 0),
                                   .skip = number_of(L, "skip", 0),
                                   .times = number_of(L, "times", 1),
                                   .delay_ms = delay_of(L)};
    return test_result(L, test_ops()->add_rule(engine, &rule, &err), &err);
}

static size_t headers_of(lua_State *L, const char **headers)
{
    size_t count = 0;
    lua_getfield(L, 2, "headers");
    for (size_t i = 1; lua_istable(L, -1); i++) {
        lua_rawgeti(L, -1, (int)i);
        bool over = lua_isnil(L, -1) || count == 2 * TEST_ANSWER_HEADERS_MAX;
        if (!over) headers[count++] = arg_str(L, -1, "env:http: header").p;
        lua_pop(L, 1); /* the table holds it */
        if (over) break;
    }
    lua_pop(L, 1);
    return count / 2;
}

/* answer(engine, table): `headers` is an array of names and values in turns */
static int l_answer(lua_State *L)
{
    struct test_engine *engine = test_engine_arg(L);
    arg_table(L, 2, "answer");
    lua_getfield(L, 2, "body");
    struct str body = arg_bytes_opt(L, -1, "env:http: body"); /* kept by the table */
    lua_pop(L, 1);
    struct test_answer answer = {.method = text_of(L, "method"),
                                 .url = text_of(L, "url"),
                                 .body = body,
                                 .status = number_of(L, "status", 200),
                                 .times = number_of(L, "times", 0),
                                 .delay_ms = delay_of(L)};
    answer.header_count = headers_of(L, answer.headers);
    test_ops()->add_answer(engine, &answer);
    return 0;
}

/* duration(value): milliseconds */
static int l_duration(lua_State *L)
{
    lua_pushnumber(L, (lua_Number)arg_duration_ms(L, 1, "env:fault: delay"));
    return 1;
}

/* rule_is_unmet(engine, id) */
static int l_rule_is_unmet(lua_State *L)
{
    struct test_engine *engine = test_engine_arg(L);
    lua_pushboolean(L, test_ops()->rule_is_unmet(engine, (int)luaL_checkinteger(L, 2)));
    return 1;
}

static int l_clear_rules(lua_State *L)
{
    test_ops()->clear_rules(test_engine_arg(L));
    return 0;
}

/* end_watches(engine, kind or "", expire) */
static int l_end_watches(lua_State *L)
{
    struct err err;
    struct test_engine *engine = test_engine_arg(L);
    const char *kind = arg_str(L, 2, "kind").p;
    return test_result(L, test_ops()->end_watches(engine, kind, lua_toboolean(L, 3), &err), &err);
}

void bind_test_rules(lua_State *L)
{
    static const luaL_Reg verbs[] = {{"rule", l_rule},
                                     {"answer", l_answer},
                                     {"duration", l_duration},
                                     {"rule_is_unmet", l_rule_is_unmet},
                                     {"clear_rules", l_clear_rules},
                                     {"end_watches", l_end_watches},
                                     {NULL, NULL}};
    luaL_register(L, NULL, verbs);
}
