/* core/world/world_json.c: objects as tables of Lua, and as text again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <lauxlib.h>

#include "base/mem.h"
#include "world/world_internal.h"

static lua_State *L;
static struct tape_parser *parser;

static int setup(void **state)
{
    parser = tape_parser_new();
    L = luaL_newstate();
    lua_newtable(L);
    world_json_open(L);
    lua_setglobal(L, "raw");
    return 0;
}

static int teardown(void **state)
{
    lua_close(L);
    tape_parser_free(parser);
    return 0;
}

/* Pushes a text's value. */
static void push(const char *json)
{
    size_t len = strlen(json);
    char *text = xcalloc(1, len + TAPE_PADDING);
    struct tape tape;
    struct err err;
    memcpy(text, json, len);
    if (!tape_parse(parser, text, len, &tape, &err)) fail_msg("%s", err.text);
    world_json_push(L, &tape, tape_root(&tape));
    free(text);
}

/* Pops the value on top, and expects nothing below it. */
static void expect_text(const char *expected)
{
    struct buf text = {0};
    world_json_put(L, lua_gettop(L), &text);
    assert_string_equal(buf_text(&text), expected);
    buf_clear(&text);
    lua_pop(L, 1);
    assert_int_equal(lua_gettop(L), 0);
}

static void expect_same(const char *from, const char *to)
{
    push(from);
    expect_text(to);
}

static void test_members_come_in_the_order_of_their_names(void **state)
{
    expect_same("{\"b\":{\"d\":1,\"c\":\"x\"},\"a\":true,\"aa\":false}",
                "{\"a\":true,\"aa\":false,\"b\":{\"c\":\"x\",\"d\":1}}");
}

/* More than the room that is there at first. */
static void test_many_members_are_all_written(void **state)
{
    expect_same("{\"i\":1,\"h\":2,\"g\":3,\"f\":4,\"e\":5,\"d\":6,\"c\":7,\"b\":8,\"a\":9}",
                "{\"a\":9,\"b\":8,\"c\":7,\"d\":6,\"e\":5,\"f\":4,\"g\":3,\"h\":2,\"i\":1}");
}

static void test_empty_arrays_and_objects_stay_what_they_are(void **state)
{
    expect_same("{\"list\":[],\"map\":{},\"lists\":[[],{}]}", "{\"list\":[],\"lists\":[[],{}],\"map\":{}}");
}

static void test_members_that_are_null_or_managed_fields_are_left_out(void **state)
{
    expect_same("{\"a\":null,\"metadata\":{\"managedFields\":[{\"manager\":\"m\"}],\"name\":\"n\"}}",
                "{\"metadata\":{\"name\":\"n\"}}");
}

static void test_elements_that_are_null_keep_their_places(void **state)
{
    expect_same("[null,1,null]", "[null,1,null]");
}

static void test_integers_have_no_exponent_and_fractions_read_back_equal(void **state)
{
    expect_same("[0,-7,9007199254740991,1e3,0.5]", "[0,-7,9007199254740991,1000,0.5]");
}

static void test_texts_keep_quotes_and_bytes_of_zero(void **state)
{
    expect_same("{\"a\\\"b\":\"x\\u0000\\\"y\\n\"}", "{\"a\\\"b\":\"x\\u0000\\\"y\\n\"}");
}

static void test_lua_marks_arrays_and_nulls(void **state)
{
    assert_int_equal(luaL_dostring(L, "return {a = raw.array {}, b = {}, c = raw.null, d = {1, 2}}"), 0);
    expect_text("{\"a\":[],\"b\":{},\"c\":null,\"d\":[1,2]}");
    assert_int_equal(luaL_dostring(L, "return raw.json {b = 1, a = raw.array {}}"), 0);
    assert_string_equal(lua_tostring(L, -1), "{\"a\":[],\"b\":1}");
    lua_pop(L, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members_come_in_the_order_of_their_names),
        cmocka_unit_test(test_many_members_are_all_written),
        cmocka_unit_test(test_empty_arrays_and_objects_stay_what_they_are),
        cmocka_unit_test(test_members_that_are_null_or_managed_fields_are_left_out),
        cmocka_unit_test(test_elements_that_are_null_keep_their_places),
        cmocka_unit_test(test_integers_have_no_exponent_and_fractions_read_back_equal),
        cmocka_unit_test(test_texts_keep_quotes_and_bytes_of_zero),
        cmocka_unit_test(test_lua_marks_arrays_and_nulls),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
