/* core/script/inventory/inventory.c, function_hash.c, bind_inventory.c: what a script registered, printed,
 * as JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "core/script/support/cluster.h"
#include "script/inventory/function_hash.h"
#include "script/inventory/inventory.h"

#define ADD(plan, class, key, detail) inventory_add(plan, class, STR(key), STR(detail))

/* --- a plan as text, a line for each entry */

static void put_entry(const struct inventory_entry *entry, struct buf *out)
{
    buf_printf(out, "%s %s", inventory_class_name(entry->class), entry->key);
    if (*entry->detail) buf_printf(out, " %s", entry->detail);
    buf_putc(out, '\n');
}

static void print(const struct inventory *plan, struct buf *out)
{
    for (size_t i = 0; i < plan->count; i++) put_entry(&plan->items[i], out);
}

static void test_equal_entries_are_one_and_a_second_of_a_key_has_a_number(void **state)
{
    struct inventory plan = {0};
    struct buf out = {0};
    ADD(&plan, INVENTORY_READ, "pods:list", "");
    ADD(&plan, INVENTORY_READ, "pods:list", "");
    ADD(&plan, INVENTORY_INFORMER, "pods", "{}");
    ADD(&plan, INVENTORY_INFORMER, "pods", "{resync=3}");
    ADD(&plan, INVENTORY_INFORMER, "pods", "{resync=3}");
    ADD(&plan, INVENTORY_WRITE, "pods:list", "");
    print(&plan, &out);
    assert_string_equal(buf_text(&out),
                        "read pods:list\ninformer pods {}\ninformer pods#2 {resync=3}\nwrite pods:list\n");
    assert_string_equal(inventory_find(&plan, INVENTORY_INFORMER, STR("pods#2"))->detail, "{resync=3}");
    assert_null(inventory_find(&plan, INVENTORY_QUEUE, STR("pods")));
    buf_clear(&out);
    inventory_clear(&plan);
}

static void test_the_first_place_of_an_entry_stays(void **state)
{
    struct inventory plan = {0};
    ADD(&plan, INVENTORY_READ, "pods:list", "");
    inventory_set_place(&plan, INVENTORY_READ, STR("pods:list"), "a.lua", 3);
    inventory_set_place(&plan, INVENTORY_READ, STR("pods:list"), "b.lua", 4);
    inventory_set_place(&plan, INVENTORY_READ, STR("pods:get"), "b.lua", 4);
    assert_string_equal(plan.items[0].file, "a.lua");
    assert_int_equal(plan.items[0].line, 3);
    inventory_clear(&plan);
}

static void test_functions_have_places_when_requested(void **state)
{
    struct inventory plan = {0};
    int line = 0;
    inventory_note_function(&plan, "ffeeddccbbaa9988", "x.lua", 7);
    assert_null(inventory_function_place(&plan, STR("ffeeddccbbaa9988"), &line));
    plan.notes_functions = true;
    inventory_note_function(&plan, "ffeeddccbbaa9988", "x.lua", 7);
    inventory_note_function(&plan, "ffeeddccbbaa9988", "x.lua", 9);
    assert_string_equal(inventory_function_place(&plan, STR("ffeeddccbbaa9988"), &line), "x.lua");
    assert_int_equal(line, 7); /* the first place stays */
    assert_null(inventory_function_place(&plan, STR("0123456789abcdef"), &line));
    inventory_clear(&plan);
}

static void test_a_plan_is_written_as_json(void **state)
{
    struct inventory plan = {0};
    struct buf out = {0};
    ADD(&plan, INVENTORY_HANDLER, "say \"x\"", "{a=1}");
    ADD(&plan, INVENTORY_MAIN, "k8s.main", "");
    inventory_write_json(&plan, NULL, &out);
    assert_string_equal(buf_text(&out),
                        "[{\"class\":\"handler\",\"key\":\"say \\\"x\\\"\",\"detail\":\"{a=1}\"},"
                        "{\"class\":\"main\",\"key\":\"k8s.main\",\"detail\":\"\"}]");
    buf_clear(&out);
    inventory_clear(&plan);
}

/* --- of scripts */

/* The plan of a script of this text, printed. */
static void plan_of(struct cluster *c, const char *lua, struct buf *out)
{
    struct script *script = cluster_load(c, "planned", lua);
    out->len = 0;
    print(script_inventory(script), out);
    script_free(script);
    c->script = NULL;
}

static void test_everything_that_a_script_registers_is_in_its_plan(void **state)
{
    struct buf out = {0};
    plan_of(*state,
            "local k8s = require 'k8s'\n"
            "local pods = k8s.informer('pods', { namespaces = { 'b', 'a' }, selector = 'app = web' })\n"
            "pods:add_index('node', 'spec.nodeName')\n"
            "pods:on_add(function() end, { id = 'mine', changed = { 'spec' }, where = { ['a.b'] = 'c' } })\n"
            "local q = k8s.queue { name = 'work', workers = 2 }\n"
            "q:run(function() end)\n"
            "k8s.every('30s', function() end) k8s.every('30s', function() end)\n"
            "k8s.cron('@daily', function() end, { tz = 'UTC', catch_up = '1h' })\n"
            "k8s.reads { 'pods:list' } k8s.writes { 'pods:patch' }\n"
            "k8s.on_leader(function() end)\n"
            "k8s.main(function() end)\n",
            &out);
    static const char hidden[] = "function ................";
    struct buf text = {0}, line = {0};
    struct str rest = buf_slice(&out), one;
    while (rest.n && str_cut(&rest, '\n', &one)) { /* hashes differ from one LuaJIT to the next */
        const char *found = memmem(one.p, one.n, "function ", 9);
        line.len = 0;
        buf_str(&line, one);
        if (found) memcpy(line.data + (found - one.p), hidden, sizeof hidden - 1);
        buf_str(&text, buf_slice(&line));
        buf_putc(&text, '\n');
    }
    assert_string_equal(buf_text(&text),
                        "informer pods in b, a with labels app = web {}\n"
                        "index pods in b, a with labels app = web: node \"spec.nodeName\"\n"
                        "handler mine pods in b, a with labels app = web {OnAdd=function ................, "
                        "changed={\"spec\"}, where={a.b=\"c\"}}\n"
                        "queue work {workers=2}\n"
                        "queue work: run function ................\n"
                        "timer every 30s {function ................}\n"
                        "timer every 30s#2 {function ................}\n"
                        "cron @daily UTC {function ................, catch_up=\"1h\"}\n"
                        "read pods:list\n"
                        "write pods:patch\n"
                        "leader k8s.on_leader {start=function ................}\n"
                        "main k8s.main function ................\n");
    buf_clear(&line);
    buf_clear(&text);
    buf_clear(&out);
}

/* Whether handlers of two scripts are the same in their plans. */
static bool same(struct cluster *c, const char *a, const char *b)
{
    struct buf x = {0}, y = {0};
    plan_of(c, a, &x);
    plan_of(c, b, &y);
    bool equal = str_eq(buf_slice(&x), buf_slice(&y));
    buf_clear(&x);
    buf_clear(&y);
    return equal;
}

#define SCRIPT(before, body) \
    "local k8s = require 'k8s' " before " k8s.informer('pods'):on_add(function(obj) " body " end)"

static void test_code_counts_and_its_form_does_not(void **state)
{
    struct cluster *c = *state;
    assert_true(same(c, SCRIPT("local x = 1", "print(x, { a = 1, b = 2, c = 3 })"),
                     SCRIPT("local new\nlocal x = 1", "-- said\n\n print(x, { a = 1, b = 2, c = 3 })")));
    assert_false(same(c, SCRIPT("local x, y = 1, 2", "print(x)"), SCRIPT("local x, y = 1, 2", "print(y)")));
    assert_false(same(c, SCRIPT("", "print(1)"), SCRIPT("", "print(2)")));
    assert_false(same(c, SCRIPT("", "print { a = 1, b = 2 }"), SCRIPT("", "print { a = 1, b = 3 }")));
    assert_false(same(c, SCRIPT("", "print { a = 1, b = 2 }"), SCRIPT("", "print { a = 2, b = 1 }")));
    assert_false(same(c, SCRIPT("", "return function() return obj end"),
                      SCRIPT("", "return function() return 1 end")));
}

#define QUEUE(map)                                                  \
    "local k8s = require 'k8s' local q = k8s.queue { name = 'x' } " \
    "k8s.informer('pods'):on_add(q:enqueuer(" map "))"

static void test_what_a_function_of_the_api_was_made_of_counts(void **state)
{
    struct cluster *c = *state;
    assert_true(same(c, QUEUE("function(o) return 'a' end"), QUEUE("function(o) -- x\nreturn 'a' end")));
    assert_false(same(c, QUEUE("function(o) return 'a' end"), QUEUE("function(o) return 'b' end")));
    assert_false(same(c, QUEUE(""),
                      "local k8s = require 'k8s' k8s.queue { name = 'x' } local q = k8s.queue { "
                      "name = 'y' } k8s.informer('pods'):on_add(q:enqueuer())"));
}

static void test_hashes_do_not_depend_on_the_state(void **state)
{
    struct cluster *c = *state;
    const char *const lua =
        SCRIPT("", "return { alpha = 1, beta = 'x', gamma = true, [1] = 2, [3.5] = 4, 'y' }");
    for (int i = 0; i < 20; i++) assert_true(same(c, lua, lua));
}

static void test_code_that_is_none_is_refused(void **state)
{
    struct cluster *c = *state;
    const struct script *script = c->script = cluster_load(c, "unit", "");
    struct buf out = {0}, dump = {0};
    lua_State *L = script->L;
    assert_false(function_canonical(STR("\033LJ"), &out));
    assert_false(function_canonical(STR("\033LJ\003\002\000"), &out));
    push_ref(L, script, REF_DUMP);
    assert_int_equal(luaL_loadstring(L, "return { a = 1 }, function() return 2 ^ 0.5, 'text' end"), 0);
    lua_pushboolean(L, 1);
    lua_call(L, 2, 1);
    size_t len;
    const char *code = lua_tolstring(L, -1, &len);
    assert_true(function_canonical((struct str){code, len}, &out));
    for (size_t cut = 0; cut < len; cut++) { /* exactly so many bytes, for the sanitizer */
        buf_clear(&dump);
        buf_append(&dump, code, cut);
        out.len = 0;
        assert_false(function_canonical(buf_slice(&dump), &out));
    }
    lua_pop(L, 1);
    buf_clear(&dump);
    buf_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_entries_are_one_and_a_second_of_a_key_has_a_number),
        cmocka_unit_test(test_the_first_place_of_an_entry_stays),
        cmocka_unit_test(test_functions_have_places_when_requested),
        cmocka_unit_test(test_a_plan_is_written_as_json),
        cmocka_unit_test_setup_teardown(test_everything_that_a_script_registers_is_in_its_plan, cluster_setup,
                                        cluster_teardown),
        cmocka_unit_test_setup_teardown(test_code_counts_and_its_form_does_not, cluster_setup,
                                        cluster_teardown),
        cmocka_unit_test_setup_teardown(test_what_a_function_of_the_api_was_made_of_counts, cluster_setup,
                                        cluster_teardown),
        cmocka_unit_test_setup_teardown(test_hashes_do_not_depend_on_the_state, cluster_setup,
                                        cluster_teardown),
        cmocka_unit_test_setup_teardown(test_code_that_is_none_is_refused, cluster_setup, cluster_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
