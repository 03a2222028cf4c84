/* core/script/view/state_table.c, state_copy.c, state_walk.c, bind_state.c, lua/k8s/prelude.lua:
 * state tables, and how they get from one generation of a script to the next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/script/support/cluster.h"
#include "script/generation/state_copy.h"
#include "script/vm/turns.h"

#define HEAD \
    "local k8s = require 'k8s' s = k8s.state('s', { init = { n = 1, list = { 'a', 'b' }, map = {} } })\n"

static void test_reads_as_a_table(void **state)
{
    struct cluster *c = *state;
    c->script = cluster_load(c, "a", HEAD);
    assert_ask(c, c->script, "return s.n .. s.list[2] .. tostring(s.absent) .. #s.list .. #s.map", "1bnil20");
    assert_ask(c, c->script,
               "local t = {} for k, v in pairs(s.list) do t[#t + 1] = k .. v end "
               "for i, v in ipairs(s.list) do t[#t + 1] = i .. v end return table.concat(t)",
               "1a2b1a2b");
    assert_ask(c, c->script,
               "return next(s.map) == nil and select(2, next(s.list)) .. select(2, unpack(s.list))", "ab");
    assert_ask(c, c->script, "return table.concat(s.list, '-') .. require('k8s').json.encode(s)",
               "a-b{\"list\":[\"a\",\"b\"],\"map\":{},\"n\":1}");
    assert_ask(c, c->script, "return tostring(s) .. tostring(s.map):match '^table in state s: ' .. type(s)",
               "state stable in state s: userdata");
}

static void test_is_written_as_a_table(void **state)
{
    struct cluster *c = *state;
    c->script = cluster_load(c, "a", HEAD);
    assert_ask(c, c->script,
               "s.n = s.n + 1 s.list[#s.list + 1] = 'c' s.map.x = { y = { true } } return s.n .. "
               "#s.list .. tostring(s.map.x.y[1])",
               "23true");
    assert_ask(c, c->script, "s.map.x = nil return tostring(s.map.x) .. tostring(next(s.map))", "nilnil");
    assert_ask(c, c->script,
               "table.insert(s.list, 'e') table.insert(s.list, 1, 'd') table.sort(s.list) "
               "return table.concat(s.list) .. table.remove(s.list) .. table.remove(s.list, 1) .. #s.list",
               "abcdeea3");
    assert_ask(c, c->script, "table.move(s.list, 1, 2, 3) s.list[3] = 'x' return table.concat(s.list)",
               "bcxc");
    assert_ask(c, c->script, "return table.concat(table.move(s.list, 1, 2, 1, {}))", "bc");
}

static void test_an_assigned_table_is_copied(void **state)
{
    struct cluster *c = *state;
    c->script = cluster_load(c, "a", HEAD);
    assert_ask(c, c->script, "local t = { 1 } s.t = t t[1] = 2 s.u = s.t s.u[1] = 3 return s.t[1] .. s.u[1]",
               "13");
    assert_ask(c, c->script, "s.self = s s.self.n = 7 return s.n .. tostring(s.self.self)", "1nil");
}

static void test_what_cannot_be_kept_raises_with_its_path(void **state)
{
    static const char *const wrong[][2] = {
        {"s.f = print",
         "k8s.state: s: f: a function cannot be stored in a state, only booleans, numbers, strings and"},
        {"s.map.x = { y = { 1, { ['a b'] = print } } }",
         "k8s.state: s: map.x.y[2]['a b']: a function cannot"},
        {"s.map.x = {} s.map.x.y = coroutine.create(print)",
         "k8s.state: s: map.x.y: a thread cannot be stored in a state"},
        {"table.insert(s.list, print)", "k8s.state: s: list[3]: a function cannot be stored in a state"},
        {"s.list[1] = require('k8s').null", "list[1]: a null cannot be stored in a state"},
        {"s.t = setmetatable({}, {})",
         "k8s.state: s: t: a table with a metatable cannot be stored in a state"},
        {"local t = {} t.t = { t } s.t = t", "k8s.state: s: t.t[1]: table contains itself"},
        {"local t = {} for i = 1, 101 do t = { t } end s.t = t", "tables are nested more than 100 deep"},
        {"local t = s for i = 1, 101 do t.t = {} t = t.t end", "tables are nested more than 100 deep"},
        {"s[{}] = 1", "k8s.state: s: a table cannot be a key"},
        {"s.map = { [{}] = 1 }", "k8s.state: s: map: a table cannot be a key"},
        {"s[0/0] = 1", "k8s.state: s: a nan cannot be a key"},
        {"s[nil] = 1", "k8s.state: s: a nil cannot be a key"},
        {"rawset(s, 'a', print)", "table expected"},
        {"setmetatable(s, {})", "table expected"},
        {"table.insert(s.list, 1, 2, 3)", "wrong number of arguments"},
        {"return require('k8s').state('later')", "k8s.state may only be called while the script is loading"},
    };
    struct cluster *c = *state;
    c->script = cluster_load(c, "a", HEAD);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *said = cluster_ask(c, c->script, wrong[i][0]);
        if (!strstr(said, wrong[i][1])) fail_msg("%s\n gave %s", wrong[i][0], said);
    }
    assert_ask(c, c->script, "return require('k8s').json.encode(s.list)", "[\"a\",\"b\"]");
}

static void test_a_declaration_that_is_wrong_is_refused(void **state)
{
    static const char *const wrong[][2] = {
        {"k8s.state('')", "a.lua:1: k8s.state: the name must have 1 to 100 bytes"},
        {"k8s.state('a', { verson = 2 })", "unknown option \"verson\", did you mean \"version\"?"},
        {"k8s.state('a', { version = 1.5 })", "k8s.state: version must be a whole number of at least 0"},
        {"k8s.state('a', { init = { x = print } })",
         "k8s.state: a: x: a function cannot be stored in a state"},
        {"k8s.state('a', {}) k8s.state('a', {})", "k8s.state: a is already declared"},
    };
    struct cluster *c = *state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char lua[200];
        snprintf(lua, sizeof lua, "local k8s = require 'k8s' %s", wrong[i][0]);
        const char *said = cluster_load_error(c, "a", lua);
        if (!strstr(said, wrong[i][1])) fail_msg("%s\n gave %s", wrong[i][0], said);
    }
    c->script = cluster_load(
        c, "a", "local k8s = require 'k8s' local a = k8s.state 'x' a.n = 1 same = k8s.state 'x' == a");
    assert_ask(c, c->script, "return same", "true");
}

/* Gives the error, "" for none. */
static const char *handover(struct cluster *c, const char *old_does, const char *new_lua, const char *ask,
                            const char *expected)
{
    static struct err err;
    struct script *old = cluster_load(c, "old", HEAD);
    cluster_ask(c, old, old_does);
    struct script *new_ = cluster_load(c, "new", new_lua);
    err.text[0] = '\0';
    bool ok = state_copy_finish(old, new_, &err);
    assert_int_equal(ok, err.text[0] == '\0');
    if (ask) assert_ask(c, new_, ask, expected);
    assert_ask(c, old, "return s.list[1]", "a");
    script_free(old);
    script_free(new_);
    return err.text;
}

static void test_the_next_generation_takes_the_content_over(void **state)
{
    struct cluster *c = *state;
    assert_string_equal(
        "",
        handover(c, "s.n = 2 s.map[3] = { [true] = 'x', deep = { 'y' } } s.list[3] = 'a\\0b' s.e = {}", HEAD,
                 "return s.n .. s.map[3][true] .. s.map[3].deep[1] .. #s.list[3] .. "
                 "tostring(next(s.e)) .. #s.list",
                 "2xy3nil3"));
    /* what the new one has and the old one has not, and the other way round */
    assert_string_equal("", handover(c, "s.n = 2",
                                     "local k8s = require 'k8s' t = k8s.state('t', { init = { 5 } })",
                                     "return t[1]", "5"));
    assert_string_equal("", handover(c, "s.j = require('k8s').json.array {}", HEAD,
                                     "return require('k8s').json.encode(s.j)", "[]"));
}

static void test_tables_of_constants_are_filled(void **state)
{
    struct cluster *c = *state;
    assert_string_equal(
        "", handover(c, "s.map.x = 1 s.list = { 'a', { 'z' } }", HEAD "map, list = s.map, s.list",
                     "return map.x .. list[2][1] .. tostring(map == s.map and list == s.list)", "1ztrue"));
}

#define NEXT(migrate) "local k8s = require 'k8s' s = k8s.state('s', { version = 2, " migrate " })"

static void test_another_version_is_migrated(void **state)
{
    struct cluster *c = *state;
    const char *migrates = NEXT("migrate = function(old, version)\n"
                                "return { n = old.n + version, kind = type(old.list), list = old.list } end");
    assert_string_equal("", handover(c, "s.n = 4 s.list[3] = 'c'", migrates,
                                     "s.list[4] = 'd' return s.n .. s.kind .. table.concat(s.list)",
                                     "5tableabcd"));
}

static void test_a_migration_that_fails_is_reported_with_its_place(void **state)
{
    static const char *const wrong[][2] = {
        {NEXT(""), "/new.lua:1: k8s.state: s: version changes from 1 to 2 without a migrate function"},
        {NEXT("migrate = function()\n error 'no' end"), "/new.lua:2: no"},
        {NEXT("\n\nmigrate = function() end"),
         "/new.lua:3: k8s.state: s: migrate must return a table, not nil"},
        {NEXT("migrate = function() return { a = { print } } end"),
         "/new.lua:1: k8s.state: s: the value returned by migrate: a[1]: a function cannot be stored in a "
         "state"},
        {NEXT("migrate = function() k8s.sleep(1) end"), "k8s.sleep may not be called in migrate"},
        {NEXT("migrate = function() k8s.informer 'pods' end"), "k8s.informer may not be called in migrate"},
        {NEXT("migrate = function() k8s.factory {} end"), "may only be called while the script is loading"},
    };
    struct cluster *c = *state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *said = handover(c, "", wrong[i][0], "return next(s)", "nil");
        if (!strstr(said, wrong[i][1])) fail_msg("%s\n gave %s", wrong[i][0], said);
    }
}

/* --- in parts, the smallest there are */

#define MANY "for i = 1, 300 do s.map['k' .. i] = { n = i, i } end "

/* The number of entries of the copy, and whether each is what it should be. */
#define COUNT \
    "local n = 0 for k, v in pairs(s.map) do n = n + ((k == 'k' .. v.n and v[1] == v.n) and 1 or 1000) end "
#define WHOLE COUNT "return n .. #s.list"

static void test_a_copy_is_made_in_parts(void **state)
{
    struct cluster *c = *state;
    struct err err;
    int parts = 0;
    struct script *old = cluster_load(c, "old", HEAD);
    cluster_ask(c, old, MANY "s.list = { 'x' }");
    struct script *new_ = cluster_load(c, "new", HEAD "map = s.map");
    while (!state_copy_continue(old, new_, 0)) parts++;
    assert_in_range(parts, 20, 200);
    assert_true(state_copy_finish(old, new_, &err));
    assert_ask(c, new_, WHOLE " .. tostring(map == s.map)", "3001true");
    assert_ask(c, old, WHOLE, "3001");
    script_free(old);
    script_free(new_);
}

static void test_a_migration_comes_between_parts(void **state)
{
    struct cluster *c = *state;
    struct err err;
    struct script *old = cluster_load(c, "old", HEAD);
    cluster_ask(c, old, MANY);
    struct script *new_ = cluster_load(
        c, "new",
        NEXT("migrate = function(old) old.map.k300 = nil old.list = { old.list[1] } return old end"));
    while (!state_copy_continue(old, new_, 0)) continue;
    assert_true(state_copy_finish(old, new_, &err));
    assert_ask(c, new_, WHOLE, "2991");
    script_free(old);
    script_free(new_);
}

static void test_what_is_written_between_parts_is_copied(void **state)
{
    struct cluster *c = *state;
    struct err err;
    struct script *old = cluster_load(c, "old", HEAD);
    cluster_ask(c, old, MANY);
    struct script *new_ = cluster_load(c, "new", HEAD);
    for (int i = 0; i < 5; i++) assert_false(state_copy_continue(old, new_, 0));
    cluster_ask(c, old, "for i = 301, 600 do s.map['k' .. i] = { n = i, i } end s.map.k1 = nil");
    while (!state_copy_continue(old, new_, 0)) continue;
    cluster_ask(c, old, "table.remove(s.list, 1) s.map.k2 = nil"); /* after the last part */
    assert_true(state_copy_finish(old, new_, &err));
    assert_ask(c, new_, WHOLE, "5981");
    script_free(old);
    script_free(new_);
}

static void test_a_state_that_is_always_written_is_copied_at_once(void **state)
{
    struct cluster *c = *state;
    struct err err;
    int parts = 1;
    struct script *old = cluster_load(c, "old", HEAD);
    cluster_ask(c, old, MANY);
    struct script *new_ = cluster_load(c, "new", HEAD);
    for (; !state_copy_continue(old, new_, 0); parts++) cluster_ask(c, old, "s.n = s.n + 1");
    assert_int_equal(parts, 4);
    assert_true(state_copy_finish(old, new_, &err));
    assert_ask(c, new_, COUNT "return n .. s.n", "3004");
    script_free(old);
    script_free(new_);
}

static void test_a_copy_holds_the_turns_of_the_old_one(void **state)
{
    struct cluster *c = *state;
    struct script *old = cluster_load(c, "old", HEAD "k8s.every('1s', function() s.n = s.n + 1 end)");
    cluster_ask(c, old, MANY);
    struct script *new_ = cluster_load(c, "new", HEAD);
    assert_false(state_copy_continue(old, new_, 0));
    assert_true(turns_are_owed(old));
    cluster_ask(c, old, "s.n = 1");
    virtual_clock_advance(&c->clock, 5000);
    assert_ask(c, old, "return s.n", "1");
    script_free(new_);
    assert_false(turns_are_owed(old));
    virtual_clock_advance(&c->clock, 1000);
    assert_ask(c, old, "return s.n > 1", "true");
    script_free(old);
}

/* --- what a generation drops */

static struct script *follow(struct cluster *c, struct script *old, const char *lua)
{
    struct err err;
    struct script *new_ = cluster_load(c, "new", lua);
    if (!state_copy_finish(old, new_, &err)) fail_msg("%s", err.text);
    script_free(old);
    return new_;
}

static void test_a_state_that_was_dropped_is_kept_for_one_generation(void **state)
{
    struct cluster *c = *state;
    struct script *script = cluster_load(c, "old", HEAD);
    cluster_ask(c, script, MANY "s.n = 7");
    script = follow(c, script, "t = require('k8s').state 't' t.x = 1");
    script = follow(c, script, HEAD);
    assert_ask(c, script, COUNT "return n .. s.n", "3007");
    script = follow(c, script, "");
    script = follow(c, script, NEXT("migrate = function(old, v) return { n = old.n * 10 + v } end"));
    assert_ask(c, script, "return s.n", "71");
    script = follow(c, script, "");
    script = follow(c, script, "");
    script = follow(c, script, HEAD);
    assert_ask(c, script, "return s.n", "1");
    script_free(script);
}

static void test_a_kept_state_is_memory_of_the_script_until_that_needs_it(void **state)
{
    enum { MIB = 1 << 20 };
    static const char fill[] = "for i = 1, 5 do s.list[i] = ('x'):rep(1048576) .. i end s.n = 7";
    static const char small[] = "require('k8s').limits { script_memory = '16Mi' } ";
    struct cluster *c = *state;
    struct script *script = cluster_load(c, "old", HEAD);
    cluster_ask(c, script, fill);
    script = follow(c, script, "");
    assert_in_range(script_memory(script), 5 * MIB, 6 * MIB);
    script = follow(c, script, HEAD);
    assert_ask(c, script, "return s.n .. #s.list", "75");
    script = follow(c, script, small);
    assert_in_range(script_memory(script), 5 * MIB, 6 * MIB);
    assert_ask(c, script, "t = {} for i = 1, 12 do t[i] = ('y'):rep(1048576) .. i end return #t", "12");
    assert_in_range(script_memory(script), 12 * MIB, 16 * MIB);
    script = follow(c, script, HEAD);
    assert_ask(c, script, "return s.n", "1");
    script_free(script);
}

static void test_memory_is_given_back(void **state)
{
    struct cluster *c = *state;
    c->script = cluster_load(c, "a", HEAD);
    cluster_ask(c, c->script, "for i = 1, 1000 do s.list[i] = { i } end s.list = {}");
    size_t before = 0;
    for (int i = 0; i < 3; i++) {
        cluster_ask(c, c->script, "for i = 1, 1000 do s.list[i] = { i } end");
        assert_ask(c, c->script, "return #s.list .. s.list[1000][1]", "10001000");
        cluster_ask(c, c->script, "s.list = {}");
        lua_gc(c->script->L, LUA_GCCOLLECT, 0);
        if (i > 0) assert_in_range(script_memory(c->script), 1, before + 1024);
        before = script_memory(c->script);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, cluster_setup, cluster_teardown)
        T(test_reads_as_a_table),
        T(test_is_written_as_a_table),
        T(test_an_assigned_table_is_copied),
        T(test_what_cannot_be_kept_raises_with_its_path),
        T(test_a_declaration_that_is_wrong_is_refused),
        T(test_the_next_generation_takes_the_content_over),
        T(test_tables_of_constants_are_filled),
        T(test_another_version_is_migrated),
        T(test_a_migration_that_fails_is_reported_with_its_place),
        T(test_a_copy_is_made_in_parts),
        T(test_a_migration_comes_between_parts),
        T(test_what_is_written_between_parts_is_copied),
        T(test_a_state_that_is_always_written_is_copied_at_once),
        cmocka_unit_test_setup_teardown(test_a_copy_holds_the_turns_of_the_old_one, cluster_setup_by_hand,
                                        cluster_teardown),
        T(test_a_state_that_was_dropped_is_kept_for_one_generation),
        T(test_a_kept_state_is_memory_of_the_script_until_that_needs_it),
        T(test_memory_is_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
