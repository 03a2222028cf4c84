/* core/script/view/bind_yaml.c: k8s.yaml. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "core/script/support/fixture.h"

static int setup(void **state)
{
    fixture_setup(state);
    fixture_global(*state, "obj",
                   "{\"apiVersion\":\"v1\",\"kind\":\"K\",\"metadata\":{\"name\":\"n\"},\"a\":{\"z\":1.0,"
                   "\"b\":[],\"c\":null,\"n\":9223372036854775807}}");
    assert_string_equal(fixture_run(*state,
                                    "k8s = require 'k8s' json, yaml = k8s.json, k8s.yaml "
                                    "function as_json(text) return json.encode(yaml.decode(text)) end "
                                    "function problem(text) local value, err = yaml.decode(text) "
                                    "return tostring(value) .. ' ' .. err.reason .. ' ' .. err.message end"),
                        "nil");
    return 0;
}

static void test_text_becomes_what_json_would(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "return as_json 'a: 1\\nb: [x, 2.5, {c: ~}]\\nd:\\n- null\\n- {}\\n- []\\n'",
               "{\"a\":1,\"b\":[\"x\",2.5,{\"c\":null}],\"d\":[null,{},[]]}");
    assert_lua(f, "return as_json 'a: |\\n  one\\n  two\\nb: \"\\\\u00e9\\\\0\"'",
               "{\"a\":\"one\\ntwo\\n\",\"b\":\"\xc3\xa9\\u0000\"}");
    assert_lua(
        f, "return as_json '[9223372036854775807, 18446744073709551615, -9223372036854775808, 1e3, 1e17]'",
        "[9223372036854775807,18446744073709551615,-9223372036854775808,1000,1e+17]");
    assert_lua(f, "local t = yaml.decode 'a: null' return t.a == k8s.null", "true");
    assert_lua(f, "local t = yaml.decode '{a: [], b: {}}' return json.encode(t)", "{\"a\":[],\"b\":{}}");
    assert_lua(f, "return yaml.decode '9007199254740993' == k8s.int64 '9007199254740993'", "true");
    assert_lua(f, "return yaml.decode 'text'", "text");
    assert_lua(f, "return as_json '{\"a\": [1, \"x\"]}'", "{\"a\":[1,\"x\"]}");
}

/* As kubectl reads a manifest. */
static void test_scalars_are_those_of_yaml_1_1(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "return as_json '[yes, Off, \"yes\", 0644, 0x1F, 1_000, 2024-01-01, .5, 1:30, Null]'",
               "[true,false,\"yes\",420,31,1000,\"2024-01-01\",0.5,\"1:30\",null]");
    assert_lua(f, "return as_json '1: a\\ntrue: b\\n'", "{\"1\":\"a\",\"true\":\"b\"}");
}

static void test_anchors_and_merges_are_followed(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "return as_json 'a: &x {b: 1}\\nc: *x\\nd: {<<: *x, e: 2}'",
               "{\"a\":{\"b\":1},\"c\":{\"b\":1},\"d\":{\"b\":1,\"e\":2}}");
    assert_lua(f, "return problem 'a: &x [*x]'", "nil Invalid line 1: alias inside its own anchor");
    assert_raises(f, "error(problem 'a: 1\\nb: *y')", "Invalid line 2: alias without an anchor");
}

static void test_documents(void **state)
{
    struct fixture *f = *state;
    assert_lua(
        f, "return json.encode(yaml.decode_all '# x\\n---\\na: 1\\n---\\n# y\\n---\\nnull\\n---\\n- 2\\n')",
        "[{\"a\":1},null,[2]]");
    assert_lua(f, "return json.encode(yaml.decode_all '')", "[]");
    assert_lua(f, "return yaml.decode '' == k8s.null and yaml.decode '---\\n# x\\n' == k8s.null", "true");
    assert_lua(f, "return as_json '---\\n---\\na: 1\\n...\\n'", "{\"a\":1}");
    assert_lua(f, "return problem 'a: 1\\n---\\nb: 2'", "nil Invalid line 3: a second document");
    assert_raises(f, "local t, err = yaml.decode_all 'a: 1\\n---\\nb: [' error(tostring(t) .. err.message)",
                  "nilline 4: ");
}

static void test_bad_text_is_reported_with_its_line(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "return problem 'a: 1\\nb: 2\\na: 3'", "nil Invalid line 3: duplicate map key \"a\"");
    assert_lua(f, "return problem 'a: 1\\n? [b]\\n: 2'", "nil Invalid line 2: map key is not a string");
    assert_lua(
        f, "return problem 'a:\\n\\t- b'",
        "nil Invalid line 2: found character that cannot start any token while scanning for the next token");
    assert_raises(f, "error(problem 'a: \\255')", "nil Invalid line 1: ");
    assert_lua(f, "return problem('a: ' .. ('['):rep(100))", "nil Invalid line 1: nested deeper than 100");
}

static void test_what_is_no_text_raises(void **state)
{
    struct fixture *f = *state;
    assert_raises(f, "yaml.decode(5)", "snippet.lua:1: k8s.yaml.decode: text must be a string, not number");
    assert_raises(f, "yaml.decode_all()", "k8s.yaml.decode_all: text must be a string, not nil");
    assert_raises(f, "yaml.encode()", "snippet.lua:1: k8s.yaml.encode: value is missing");
    assert_raises(f, "json.encode()", "snippet.lua:1: k8s.json.encode: value is missing");
    assert_raises(f, "yaml.encode(print)", "snippet.lua:1: k8s.yaml.encode: cannot encode a function");
    assert_raises(f, "local t = {} t.a = t yaml.encode(t)", "k8s.yaml.encode: table contains itself");
}

static void test_there_is_a_limit(void **state)
{
    struct fixture *f = *state;
    assert_raises(f, "yaml.decode(('x'):rep(2^24) .. 'x')",
                  "k8s.yaml.decode: over the limit value-size (16Mi)");
    assert_raises(f, "yaml.encode(('x'):rep(2^24))", "k8s.yaml.encode: over the limit value-size (16Mi)");
    assert_lua(f,
               "local text = 'a: &a0 [xxxxxxxxxx]\\n' "
               "for i = 1, 30 do text = text .. ('a%d: &a%d [*a%d, *a%d]\\n'):format(i, i, i - 1, i - 1) end "
               "return problem(text):match 'line %d+: more than 16777216 bytes %(value%-size%)' ~= nil",
               "true");
    assert_lua(f,
               "local text = 'a: &a [' .. ('x,'):rep(2^20) .. ']\\nb: [' .. ('*a,'):rep(100) .. ']\\n' "
               "return problem(text):match 'value%-size' ~= nil",
               "true");
    assert_lua(f,
               "local text = ('--- [&a ' .. ('x'):rep(2^16) .. (', *a'):rep(200) .. ']\\n'):rep(3) "
               "local all, err = yaml.decode_all(text) return tostring(all) .. ' ' .. err.message",
               "nil line 2: more than 16777216 bytes (value-size)");
    assert_true(f->script->scratch.text.cap <= 65536);
}

/* Those that no alias needs do no harm. */
static void test_aliases_have_ten_thousand_anchors(void **state)
{
    struct fixture *f = *state;
    fixture_run(f, "function anchors(count) local all = {} "
                   "for i = 1, count do all[i] = ('- &a%d x\\n'):format(i) end return table.concat(all) end");
    assert_lua(f, "return #yaml.decode(anchors(10001))", "10001");
    assert_lua(f, "return #yaml.decode(anchors(10000) .. '- *a1')", "10001");
    assert_lua(
        f, "return problem(anchors(10001) .. '- *a1')",
        "nil Invalid line 10002: alias without an anchor (at most 10000 anchors and 16777216 bytes are "
        "kept)");
}

static void test_values_become_text_with_sorted_keys(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "return yaml.encode { b = 1, a = { true, { c = 'x', d = { e = 0.5 } } }, f = {} }",
               "a:\n- true\n- c: x\n  d:\n    e: 0.5\nb: 1\nf: {}\n");
    assert_lua(f, "return yaml.encode(json.array())", "[]\n");
    assert_lua(f, "return yaml.encode(nil)", "null\n");
    assert_lua(f, "return yaml.encode { a = k8s.null, b = k8s.int64 '9223372036854775807' }",
               "a: null\nb: 9223372036854775807\n");
    assert_lua(f, "return yaml.encode(obj.a)", "z: 1.0\nb: []\nc: null\n\"n\": 9223372036854775807\n");
    assert_lua(f, "return yaml.encode { q = k8s.quantity '100m' }", "q: \"100m\"\n");
}

static void test_texts_stay_texts(void **state)
{
    struct fixture *f = *state;
    assert_lua(
        f,
        "return yaml.encode { 'no', '1', '1e3', '', 'null', '~', '0x1', 'true', '- a', 'a: b', '2024-01-01' "
        "}",
        "- \"no\"\n- \"1\"\n- \"1e3\"\n- \"\"\n- \"null\"\n- \"~\"\n- \"0x1\"\n- \"true\"\n- \"- a\"\n- \"a: "
        "b\"\n- \"2024-01-01\"\n");
    assert_lua(f, "return yaml.encode { 'nginx:1.27', 'some words', 'a/b_c.d-e' }",
               "- nginx:1.27\n- some words\n- a/b_c.d-e\n");
    assert_lua(f, "return yaml.encode { a = 'x\\ny\\n', b = { 'x\\n\\n  y' }, c = 'x\\n\\n', d = ' x\\ny' }",
               "a: |\n  x\n  y\nb:\n- |-\n  x\n\n    y\nc: |+\n  x\n\nd: \" x\\ny\"\n");
    assert_lua(f, "return yaml.encode 'x\\ny'", "|-\n  x\n  y\n");
}

/* --- Any value and back */

enum { VALUES = 3000, BROKEN = 3000 };

/* Values of all sorts; texts of what YAML takes for something else, joined at random. */
static const char maker[] =
    "local bits = { 'a', 'y', 'no', 'null', '~', '1', '0x', 'e', '.', '-', ' ', ':', '#', '\\n', '\\t', "
    "'\\r', '\"', "
    "\"'\", '\\\\', '|', '>', '&', '*', '!', '%', '@', '`', '{', '}', '[', ']', ',', '?', '<<', '=', '---', "
    "'...', "
    "'\\0', '\\127', '\\194\\133', '\\195\\169', '\\226\\128\\168', '\\239\\187\\191', "
    "'\\240\\159\\152\\128' } "
    "local function text() local t = {} for i = 1, math.random(0, 6) do t[i] = bits[math.random(#bits)] end "
    "return table.concat(t):rep(math.random(50) == 1 and 400 or 1) end "
    "local function value(depth) local kind = math.random(depth > 5 and 5 or 8) "
    "if kind == 1 then return math.random() < 0.5 elseif kind == 2 then return math.random(-1000, 1000) "
    "elseif kind == 3 then return (math.random() - 0.5) * 10 ^ math.random(-20, 20) elseif kind == 4 then "
    "return math.random() < 0.5 and k8s.null or k8s.int64 '-9007199254740995' elseif kind == 5 then return "
    "text() end "
    "local t = {} if kind == 6 then for i = 1, math.random(0, 4) do t[i] = value(depth + 1) end return "
    "json.array(t) end "
    "for _ = 1, math.random(0, 4) do t[text()] = value(depth + 1) end return t end ";

/* Gives how many there were, or what went wrong. */
static void run_random(struct fixture *f, const char *body)
{
    const char *given = getenv("SEED");
    unsigned seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL);
    char lua[8192];
    print_message("SEED=%u\n", seed);
    snprintf(lua, sizeof lua, "math.randomseed(%u) %s %s", seed, maker, body);
    const char *result = fixture_run(f, lua);
    if (strcmp(result, "done") != 0) fail_msg("with SEED=%u: %s", seed, result);
}

static void test_what_is_encoded_is_decoded_to_the_same(void **state)
{
    char body[1024];
    snprintf(body, sizeof body,
             "for i = 1, %d do local v = value(0) local wanted, text = json.encode(v), yaml.encode(v) "
             "local got, err = yaml.decode(text) "
             "if got == nil then return err.message .. ' in ' .. json.encode(text) end "
             "if json.encode(got) ~= wanted then return wanted .. ' became ' .. json.encode(text) end "
             "local all = yaml.decode_all('---\\n' .. text .. '---\\n' .. text) "
             "if json.encode(all) ~= '[' .. wanted .. ',' .. wanted .. ']' then return 'twice: ' .. "
             "json.encode(text) end "
             "end return 'done'",
             VALUES);
    run_random(*state, body);
}

static void test_malformed_text_gives_a_value_or_an_error(void **state)
{
    char body[1024];
    snprintf(body, sizeof body,
             "for i = 1, %d do local text = yaml.encode(value(0)) for _ = 1, math.random(4) do "
             "local at = math.random(#text) "
             "text = text:sub(1, at - 1) .. bits[math.random(#bits)] .. text:sub(at + math.random(0, 3)) end "
             "local all, err = yaml.decode_all(text) "
             "if all == nil and not err.message:find '^line %%d+: .' then return err.message end "
             "end return 'done'",
             BROKEN);
    run_random(*state, body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_text_becomes_what_json_would, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_scalars_are_those_of_yaml_1_1, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_anchors_and_merges_are_followed, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_documents, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_bad_text_is_reported_with_its_line, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_what_is_no_text_raises, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_there_is_a_limit, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_aliases_have_ten_thousand_anchors, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_values_become_text_with_sorted_keys, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_texts_stay_texts, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_what_is_encoded_is_decoded_to_the_same, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_malformed_text_gives_a_value_or_an_error, setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
