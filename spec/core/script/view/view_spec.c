/* core/script/view/view.c: objects as scripts see them (docs/lua-api.md, Objects). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/script/support/fixture.h"

static const char pod[] =
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web-1\",\"namespace\":\"shop\","
    "\"uid\":\"0a1b2c3d-0000-4000-8000-0123456789ab\",\"resourceVersion\":\"42\","
    "\"labels\":{\"app\":\"web\",\"name\":\"label-name\",\"get\":\"label-get\"},"
    "\"annotations\":{\"example.com/note\":\"hello\"}},"
    "\"spec\":{\"nodeName\":\"n1\",\"nothing\":null,\"big\":9007199254740993,\"huge\":18446744073709551615,"
    "\"half\":0.5,\"yes\":true,\"no\":false,\"empty\":{},\"none\":[],"
    "\"containers\":[{\"name\":\"a\",\"image\":\"img:1\"},{\"name\":\"b\",\"image\":\"img:2\"}],"
    "\"mixed\":[1,null,\"x\"],\"words\":[\"one\",\"two\"]},"
    "\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"},{\"type\":\"Other\",\"status\":"
    "\"False\"}]}}";

static int setup(void **state)
{
    fixture_setup(state);
    fixture_global(*state, "obj", pod);
    return 0;
}

static void test_fields_are_read_by_name_and_items_from_one_on(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "return obj.metadata.name", "web-1");
    assert_lua(f, "return obj.kind .. ' ' .. obj.apiVersion", "Pod v1");
    assert_lua(f, "return obj.spec.containers[2].image", "img:2");
    assert_lua(f, "return #obj.spec.containers", "2");
    assert_lua(f, "return obj.spec.half + 1", "1.5");
    assert_lua(f, "return tostring(obj.spec.yes) .. tostring(obj.spec.no)", "truefalse");
    assert_lua(f, "return type(obj) .. type(obj.spec)", "userdatauserdata");
    assert_lua(f, "return obj.metadata.labels['app']", "web");
}

static void test_what_is_absent_or_null_is_nil(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "return obj.spec.missing", "nil");
    assert_lua(f, "return obj.spec.nothing", "nil");
    assert_lua(f, "return obj.spec.containers[3]", "nil");
    assert_lua(f, "return obj.spec.containers[0]", "nil");
    assert_lua(f, "return obj.spec.containers[1.5]", "nil");
    assert_lua(f, "return obj.spec.containers[-1]", "nil");
    assert_lua(f, "return obj.spec.containers[0/0]", "nil");
    assert_lua(f, "return obj.spec.containers.name", "nil");
    assert_lua(f, "return obj.spec[1]", "nil");
    assert_lua(f, "return obj[true]", "nil");
}

static void test_null_inside_arrays_and_pairs_is_the_null_of_cjson(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "return obj.spec.mixed[2] == require('k8s').null", "true");
    assert_lua(f, "return obj.spec.mixed[2] == require('cjson').null", "true");
    assert_lua(f, "for k, v in pairs(obj.spec) do if k == 'nothing' then return v end end", "null");
}

static void test_an_error_about_nil_names_path_and_object(void **state)
{
    struct fixture *f = *state;
    assert_raises(f, "return obj.spec.securityContext.runAsUser",
                  "; last absent field: spec.securityContext of Pod shop/web-1");
    assert_raises(f, "return obj.spec.containers[2].resources.limits",
                  "; last absent field: spec.containers[1].resources of Pod shop/web-1");
    assert_raises(f, "return obj.spec.containers[9].name",
                  "; last absent field: spec.containers[8] of Pod shop/web-1");
    assert_raises(f, "return obj.spec.containers[0].name",
                  "; Lua arrays start at 1, not at [0]: spec.containers of Pod shop/web-1");
    assert_raises(f, "return obj.metadata.annotations['a/b'].c",
                  "; last absent field: metadata.annotations['a/b'] of Pod shop/web-1");
    assert_raises(f, "return 'x' .. obj.spec.missing", "; last absent field: spec.missing of Pod shop/web-1");
    assert_raises(f, "for _ in ipairs(obj.spec.missing) do end",
                  "got nil); last absent field: spec.missing of Pod shop/web-1");
    assert_raises(f, "return string.rep(obj.spec.missing, 2)",
                  "; last absent field: spec.missing of Pod shop/web-1");
    assert_raises(f, "local x = obj.spec.missing; error('other')", "snippet.lua:1: other");
    assert_null(strstr(fixture_run(f, "local x = obj.spec.missing; error('other')"), "absent"));
}

static void test_an_error_about_a_method_names_the_one_that_was_meant(void **state)
{
    struct fixture *f = *state;
    assert_raises(
        f, "return obj.metadata:label('app')",
        "last absent field: metadata.label of Pod shop/web-1; did you mean the object's method :label()?");
    assert_raises(f, "return obj:nmae()",
                  "last absent field: nmae of Pod shop/web-1; did you mean the object's method :name()?");
    assert_raises(f, "return 'x' .. obj.name",
                  "field 'name' (a function value); did you mean the object's method :name()?");
    assert_raises(f, "return obj.name()", "name: expected a view, not nil (methods are called with ':')");
    assert_raises(f, "return obj:label(obj.key)",
                  "label: key must be a string, not a function; did you mean :key()?");
    assert_raises(f, "return obj:label(print)", "label: key must be a string, not function");
    assert_null(strstr(fixture_run(f, "return obj:frobnicate()"), "did you mean"));
    assert_null(strstr(fixture_run(f, "return obj.nmae.x"), "did you mean"));
    assert_null(strstr(fixture_run(f, "local t = { x = print } return 'x' .. t.x"), "did you mean"));
}

static void test_loops_walk_views_as_they_walk_tables(void **state)
{
    struct fixture *f = *state;
    assert_lua(
        f,
        "local t = {} for k in pairs(obj.spec.containers[1]) do t[#t+1] = k end return table.concat(t, ' ')",
        "name image");
    assert_lua(f, "local t = {} for k in pairs(obj) do t[#t+1] = k end return table.concat(t, ' ')",
               "apiVersion kind metadata spec status");
    assert_lua(
        f,
        "local t = {} for i, c in ipairs(obj.spec.containers) do t[i] = i .. c.name end return t[1] .. t[2]",
        "1a2b");
    assert_lua(f, "local n = 0 for _ in ipairs(obj.spec.mixed) do n = n + 1 end return n", "3");
    assert_lua(f, "local n = 0 for _ in pairs(obj.spec.none) do n = n + 1 end return n", "0");
    assert_lua(f, "local n = 0 for i in pairs(obj.spec.words) do n = n + i end return n", "3");
    assert_lua(f, "return next(obj.spec.empty)", "nil");
    assert_lua(f, "return next(obj.metadata.labels)", "app");
    assert_lua(f, "return (next(obj.metadata.labels, 'app'))", "name");
    assert_lua(f, "local k for _ = 1, 2 do k = next(obj.spec.words, k) end return k, next(obj.spec.words, k)",
               "2");
    assert_raises(f, "next(obj.metadata.labels, 'no such')",
                  "next: invalid key: the view has no field \"no such\"");
    assert_raises(f, "next(obj.spec.words, 3)", "next: invalid key: no element 3");
    assert_raises(f, "next(obj.spec.words, 1.5)", "next: invalid key: no element 1.5");
    assert_raises(f, "next(obj.spec.words, 0)", "next: invalid key: no element 0");
    assert_raises(f, "next(obj.spec.words, 'x')", "next: invalid key: no element");
    assert_lua(f, "return select('#', unpack(obj.spec.mixed))", "3");
    assert_lua(f,
               "return select('#', unpack(obj.spec.mixed, 2)) .. select('#', unpack(obj.spec.mixed, 3, 2))",
               "20");
    assert_raises(f, "unpack(obj.spec.mixed, -1e300)", "is not a valid position");
    assert_raises(f, "unpack(obj.spec.mixed, 1, 1e8)", "snippet.lua:1: unpack: too many elements");
    assert_lua(f, "return table.concat(obj.spec.words, ',')", "one,two");
    assert_lua(f, "local n = 0 for k, v in pairs({1, 2, x = 3}) do n = n + v end return n", "6");
}

/* S-11 */
static void test_writing_raises_and_names_copy(void **state)
{
    struct fixture *f = *state;
    assert_raises(f, "obj.metadata = nil", "snippet.lua:1: objects are read-only; use :copy()");
    assert_raises(f, "obj.spec.containers[1] = 1", "snippet.lua:1: objects are read-only; use :copy()");
    assert_raises(f, "table.insert(obj.spec.containers, 1)",
                  "table.insert: objects are read-only; use :copy()");
    assert_raises(f, "rawset(obj, 'a', 1)", "objects are read-only; use :copy()");
}

static void test_views_are_equal_by_content(void **state)
{
    struct fixture *f = *state;
    fixture_global(f, "same", pod);
    fixture_global(f, "other",
                   "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"x\",\"labels\":{\"get\":"
                   "\"label-get\","
                   "\"name\":\"label-name\",\"app\":\"web\"}}}");
    assert_lua(f, "return obj == same", "true");
    assert_lua(f, "return obj ~= other", "true");
    assert_lua(f, "return obj.metadata.labels == other.metadata.labels", "true");
    assert_lua(f, "return obj == obj.metadata", "false");
    assert_lua(f, "return obj.spec.containers[1] == obj.spec.containers[2]", "false");
    assert_lua(f, "return obj == require('k8s').null", "false");
}

static void test_methods_are_on_complete_objects_only_and_fields_win(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "return obj:key() .. obj:name() .. obj:namespace()", "shop/web-1web-1shop");
    assert_lua(f, "return obj:uid()", "0a1b2c3d-0000-4000-8000-0123456789ab");
    assert_lua(f, "return obj:resource_version()", "42");
    assert_lua(f, "return obj:label 'app' .. tostring(obj:label 'b')", "webnil");
    assert_lua(f, "return obj:annotation 'example.com/note'", "hello");
    assert_lua(f, "return obj.metadata.labels.get", "label-get");
    assert_lua(f, "return obj.spec.get", "nil");
    assert_lua(f, "return obj.spec.copy", "nil");
    fixture_global(f, "odd",
                   "{\"apiVersion\":\"v1\",\"kind\":\"K\",\"metadata\":{\"name\":\"n\"},\"key\":\"field\","
                   "\"get\":null}");
    assert_lua(f, "return odd.key", "field");
    assert_lua(f, "return odd:get 'key' .. odd:namespace()", "field");
    assert_lua(f, "return require('k8s').object.key(odd)", "n");
    assert_lua(f, "return odd:uid()", "nil");
}

static void test_get_follows_paths(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "return obj:get 'spec.nodeName'", "n1");
    assert_lua(f, "return obj:get 'spec.a.b.c'", "nil");
    assert_lua(f, "return obj:get 'spec.nothing'", "nil");
    assert_lua(f, "return obj:get 'spec.containers[0].name'", "a");
    assert_lua(f, "return table.concat(obj:get 'spec.containers[*].image', ' ')", "img:1 img:2");
    assert_lua(f, "return obj:get(\"status.conditions[?type=='Ready'].status\")[1]", "True");
    assert_lua(f, "return #obj:get 'spec.nodes[*].x'", "0");
    assert_lua(f, "return require('k8s').object.get(obj.spec, 'containers[1].name')", "b");
    assert_raises(f, "obj:get 'a..b'", "snippet.lua:1: get: path: ");
    assert_raises(f, "obj:get()", "get: path must be a string, not nil");
    assert_raises(f, "obj.get('x')", "get: expected a view, not string");
}

static void test_many_different_paths_do_not_pile_up(void **state)
{
    struct fixture *f = *state;
    assert_lua(f,
               "for i = 1, 5000 do assert(obj:get('spec.nodeName.x' .. i) == nil) end return obj:get "
               "'spec.nodeName'",
               "n1");
}

static void test_copies_are_plain_writable_tables(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "local c = obj:copy() c.metadata.name = 'x' return c.metadata.name .. obj.metadata.name",
               "xweb-1");
    assert_lua(f, "local c = obj:copy() return type(c) .. #c.spec.containers .. tostring(c.spec.nothing)",
               "table2null");
    assert_lua(f, "return require('k8s').json.encode(obj:copy().spec.none)", "[]");
    assert_lua(f, "return require('k8s').json.encode(obj:copy().spec.empty)", "{}");
    assert_lua(f, "return require('k8s').object.copy(obj.spec.containers[1]).name", "a");
    assert_lua(f, "return tostring(obj:copy().spec.big)", "9007199254740993");
}

static void test_json_keeps_order_and_numbers(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "return require('k8s').object.json(obj.spec.containers[1])",
               "{\"name\":\"a\",\"image\":\"img:1\"}");
    assert_lua(f, "return obj:json():match('\"big\":%d+,\"huge\":%d+')",
               "\"big\":9007199254740993,\"huge\":18446744073709551615");
}

static void test_diff_lists_what_changed(void **state)
{
    struct fixture *f = *state;
    fixture_global(f, "a",
                   "{\"apiVersion\":\"v1\",\"kind\":\"P\",\"metadata\":{\"name\":\"n\"},\"spec\":{\"x\":1,"
                   "\"gone\":true}}");
    fixture_global(f, "b",
                   "{\"apiVersion\":\"v1\",\"kind\":\"P\",\"metadata\":{\"name\":\"n\"},\"spec\":{\"x\":2,"
                   "\"came\":\"y\"}}");
    assert_lua(
        f,
        "local t = {} for i, d in ipairs(a:diff(b)) do "
        "t[i] = d.path .. ' ' .. tostring(d.old) .. ' ' .. tostring(d.new) end return table.concat(t, '; ')",
        "spec.x 1 2; spec.gone true nil; spec.came nil y");
    assert_lua(f, "return #a:diff(a)", "0");
    assert_raises(f, "a:diff({})", "diff: expected a view, not table");
}

static void test_a_view_has_a_useful_text(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "return tostring(obj)", "Pod shop/web-1");
    assert_lua(f, "return tostring(obj.spec.containers[1])", "{\"name\":\"a\",\"image\":\"img:1\"}");
    assert_lua(f, "return ('%s!'):format(obj)", "Pod shop/web-1!");
}

static void collect(struct fixture *f)
{
    lua_gc(f->script->L, LUA_GCCOLLECT, 0);
    lua_gc(f->script->L, LUA_GCCOLLECT, 0);
    pool_drain(f->pool);
}

/* Where spec.part of a global lies. */
static const uint32_t *part_of(struct fixture *f, const char *global)
{
    lua_getglobal(f->script->L, global);
    struct value spec = value_field(view_test(f->script->L, -1)->value, STR("spec"));
    lua_pop(f->script->L, 1);
    return value_field(spec, STR("part")).at;
}

static void test_a_view_keeps_its_object_alive(void **state)
{
    struct fixture *f = *state;
    fixture_global(
        f, "other",
        "{\"apiVersion\":\"v1\",\"kind\":\"P\",\"metadata\":{\"name\":\"n\"},\"spec\":{\"x\":{\"y\":7}}}");
    assert_lua(f, "keep = other.spec.x; other = nil", "nil");
    collect(f);
    assert_lua(f, "return keep.y", "7");
    assert_int_equal(pool_stats(f->pool).roots, 2);
    assert_lua(f, "keep = nil", "nil");
    collect(f);
    assert_int_equal(pool_stats(f->pool).roots, 1);
}

static void test_millions_of_views_do_not_pile_up(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "for i = 1, 100000 do local x = obj:get('metadata.labels').app end", "nil");
    size_t before = script_memory(f->script);
    assert_lua(f, "for i = 1, 1000000 do local x = obj:get('metadata.labels').app end", "nil");
    assert_true(script_memory(f->script) < before + (1 << 20));
}

static void test_a_step_returns_the_same_view_again(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "local spec = obj.spec return rawequal(spec, obj.spec)", "true");
    assert_lua(f, "local c = obj.spec.containers[2] return rawequal(c, obj.spec.containers[2])", "true");
    assert_lua(f, "local spec = obj.spec return rawequal(spec, obj.status)", "false");
    assert_lua(f,
               "local wrong = 0 for i = 1, 200000 do local junk = { i } "
               "if obj.metadata.labels.app ~= 'web' or obj.spec.containers[i % 2 + 1].name ~= "
               "(i % 2 == 0 and 'a' or 'b') then wrong = wrong + 1 end end return wrong",
               "0");
}

/* Equal subtrees of some size lie at one address, whatever objects they belong to. They are more here than
 * the cache of views has places. */
static void test_parts_that_objects_share_are_views_of_their_own_objects(void **state)
{
    enum { TWINS = 2 * PART_CACHE_SIZE };
    struct fixture *f = *state;
    char name[20], json[400], lua[80], error[80];
    for (int i = 0; i < TWINS; i++) {
        snprintf(name, sizeof name, "twin%d", i);
        snprintf(json, sizeof json,
                 "{\"apiVersion\":\"v1\",\"kind\":\"P\",\"metadata\":{\"name\":\"%s\"},\"spec\":{\"part\":{"
                 "\"a\":\"a long text, of many bytes\",\"b\":\"another text as long as that\","
                 "\"c\":\"the third one, which takes its place too\",\"d\":\"the last of them\"}}}",
                 name);
        fixture_global(f, name, json);
    }
    assert_ptr_equal(part_of(f, "twin0"), part_of(f, "twin1"));
    for (int i = 0; i < TWINS; i++) {
        snprintf(lua, sizeof lua, "part = twin%d.spec.part; return part.x.y", i);
        snprintf(error, sizeof error, "last absent field: spec.part.x of P twin%d", i);
        assert_raises(f, lua, error);
    }
    for (int i = 0; i < TWINS; i++) {
        snprintf(lua, sizeof lua, "twin%d = nil", i);
        assert_lua(f, lua, "nil");
    }
    collect(f);
    assert_int_equal(pool_stats(f->pool).roots, 2);
    assert_raises(f, "return part.x.y", error);
}

static void test_an_object_at_the_place_of_one_that_has_gone_shows_its_own_parts(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 50; i++) {
        char json[200], expected[20];
        snprintf(json, sizeof json,
                 "{\"apiVersion\":\"v1\",\"kind\":\"P\",\"metadata\":{\"name\":\"n\"},\"spec\":{\"x\":%d}}",
                 1000 + i);
        snprintf(expected, sizeof expected, "%d", 1000 + i);
        fixture_global(f, "passing", json);
        assert_lua(f, "return passing.spec.x", expected);
        assert_lua(f, "passing = nil", "nil");
        collect(f);
        assert_int_equal(pool_stats(f->pool).roots, 1);
    }
}

/* A name's number is cached by the string's address, which another name may get later. */
static void test_names_that_come_and_go_are_not_mixed_up(void **state)
{
    struct fixture *f = *state;
    assert_lua(f,
               "local wrong = 0 for i = 1, 200000 do "
               "local name = (i % 2 == 0 and 'na' or 'ki') .. (i % 2 == 0 and 'me' or 'nd') "
               "local junk = obj['x' .. i] "
               "if (i % 2 == 0 and obj.metadata[name] ~= 'web-1') or (i % 2 == 1 and obj[name] ~= 'Pod') or "
               "junk then "
               "wrong = wrong + 1 end end return wrong",
               "0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)
        T(test_fields_are_read_by_name_and_items_from_one_on),
        T(test_what_is_absent_or_null_is_nil),
        T(test_null_inside_arrays_and_pairs_is_the_null_of_cjson),
        T(test_an_error_about_nil_names_path_and_object),
        T(test_an_error_about_a_method_names_the_one_that_was_meant),
        T(test_loops_walk_views_as_they_walk_tables),
        T(test_writing_raises_and_names_copy),
        T(test_views_are_equal_by_content),
        T(test_methods_are_on_complete_objects_only_and_fields_win),
        T(test_get_follows_paths),
        T(test_many_different_paths_do_not_pile_up),
        T(test_copies_are_plain_writable_tables),
        T(test_json_keeps_order_and_numbers),
        T(test_diff_lists_what_changed),
        T(test_a_view_has_a_useful_text),
        T(test_a_view_keeps_its_object_alive),
        T(test_millions_of_views_do_not_pile_up),
        T(test_a_step_returns_the_same_view_again),
        T(test_parts_that_objects_share_are_views_of_their_own_objects),
        T(test_an_object_at_the_place_of_one_that_has_gone_shows_its_own_parts),
        T(test_names_that_come_and_go_are_not_mixed_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
