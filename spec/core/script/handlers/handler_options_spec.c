/* core/script/handlers/bind_handler_options.c, handler_filter.c, lua/k8s/handler_options.lua: the options of
 * a script's handlers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "core/script/support/cluster.h"
#include "script/handlers/handler.h"

/* A script with a handler of these options, which writes down what it is told: "add! a" for one that the
 * filter made, "update~" for a resync. */
static struct script *load(struct cluster *c, const char *options)
{
    char lua[2000];
    snprintf(lua, sizeof lua,
             "local k8s = require 'k8s'\n"
             "local said = {}\n"
             "local function say(what, o, ev)\n"
             "  said[#said + 1] = what .. (ev.filtered and '!' or '') .. (ev.resync and '~' or '') .. ' ' .. "
             "o:name()\n"
             "end\n"
             "function take() local text = table.concat(said, '; ') said = {} return text end\n"
             "pods = k8s.informer 'pods'\n"
             "local options = { %s }\n"
             "options.OnAdd = function(o, ev) say('add', o, ev) end\n"
             "options.OnUpdate = function(old, new, ev) say('update', new, ev) end\n"
             "options.OnDelete = function(o, ev) say('delete', o, ev) end\n"
             "registration = pods:add_event_handler(options)\n",
             options);
    return cluster_load(c, "options", lua);
}

static void test_i18_a_filter_makes_adds_and_deletes_of_updates(void **state)
{
    struct cluster *c = *state;
    struct script *script = load(c, "selector = 'x in (1, 2)', namespaces = { 'shop*', '!shop-old' }");
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a x=1;shop-old/b x=1;dev/c x=1;shop/d x=3");
    assert_ask(c, script, "return take()", "add a");
    cluster_event(c, 0, LW_MODIFIED, "shop/d x=2");
    cluster_event(c, 0, LW_MODIFIED, "shop/d x=1");
    cluster_event(c, 0, LW_MODIFIED, "shop/a x=4");
    cluster_event(c, 0, LW_DELETED, "shop/d x=1");
    cluster_event(c, 0, LW_DELETED, "shop/a x=4");
    assert_ask(c, script, "return take()", "add! d; update d; delete! a; delete d");
    script_free(script);
}

static void test_values_at_paths_are_compared_in_c(void **state)
{
    struct cluster *c = *state;
    struct script *script = load(c, "where = { ['metadata.labels.x'] = { '1', '2' }, kind = 'Pod', "
                                    "['metadata.labels.y'] = k8s.null }");
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a x=1;shop/b x=2 y=1;shop/c x=3;shop/d x=2");
    assert_ask(c, script, "return take()", "add a; add d");
    script_free(script);
}

static void test_a_filter_function_has_the_last_word(void **state)
{
    struct cluster *c = *state;
    struct script *script = load(c, "selector = 'x', filter = function(o) asked = (asked or 0) + 1 return "
                                    "o:label 'x' == '1' end");
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a x=1;shop/b x=2;shop/c");
    assert_ask(c, script, "return take() .. ', asked ' .. asked", "add a, asked 2");
    cluster_event(c, 0, LW_MODIFIED, "shop/b x=1");
    assert_ask(c, script, "return take() .. ', asked ' .. asked", "add! b, asked 4");
    script_free(script);
}

static void test_a_filter_that_fails_keeps_its_object_out_and_is_counted(void **state)
{
    struct cluster *c = *state;
    struct script *script = load(c, "filter = function(o) error(o:name()) end");
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a x=1;shop/b");
    assert_ask(c, script, "return take()", "");
    assert_int_equal(script_counters(script).errors, 2);
    script_free(script);
}

static void test_a_filter_may_not_wait(void **state)
{
    struct cluster *c = *state;
    struct script *script = load(c, "filter = function(o) ok, why = pcall(k8s.sleep, 1) return true end");
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a");
    assert_ask(c, script, "return take() .. ', ' .. tostring(why):match 'k8s.*'",
               "add a, k8s.sleep may not be called in a filter");
    script_free(script);
}

static void test_a_filter_may_remove_its_handler(void **state)
{
    struct cluster *c = *state;
    struct script *script = load(c, "filter = function(o) registration:remove() return true end");
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a;shop/b");
    assert_ask(c, script, "return take()", "");
    script_free(script);
}

static void test_changed_leaves_out_updates_that_do_not_touch_its_paths(void **state)
{
    struct cluster *c = *state;
    struct script *script = load(c, "changed = { 'metadata.labels.x', 'spec.none' }");
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a x=1");
    cluster_event(c, 0, LW_MODIFIED, "shop/a x=1 y=2");
    cluster_event(c, 0, LW_MODIFIED, "shop/a x=2 y=2");
    assert_ask(c, script, "return take()", "add a; update a");
    script_free(script);
}

static void test_shorthands_take_the_options_too(void **state)
{
    struct cluster *c = *state;
    struct script *script = cluster_load(
        c, "short",
        "local k8s = require 'k8s' local pods = k8s.informer 'pods' seen = ''\n"
        "pods:on_add(function(o) seen = seen .. o:name() end, { selector = 'x=1', id = 'mine' })\n");
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a x=1;shop/b x=2");
    assert_ask(c, script, "return seen", "a");
    script_free(script);
}

static int64_t period_ms(struct script *script)
{
    return TAILQ_FIRST(&script->own.handlers->list)->options->resync_ms;
}

static void test_i15_the_period_is_the_handler_s_then_the_informer_s_the_factory_s_the_engine_s(void **state)
{
    static const struct {
        const char *informer, *handler;
        int64_t period_ms;
    } cases[] = {
        {"k8s.informer('pods')", "", 7000},
        {"k8s.informer('pods', { resync = '5m' })", "", 300000},
        {"k8s.factory({ resync = 90 }):informer('pods')", "", 90000},
        {"k8s.factory({ resync = 90 }):informer('pods', { resync = 0 })", "", 0},
        {"k8s.informer('pods', { resync = '5m' })", ", { resync = '30s' }", 30000},
        {"k8s.informer('pods', { resync = '5m' })", ", { resync = '10ms' }", 1000},
        {"k8s.informer('pods', { resync = '5m' })", ", { resync = 0 }", 0},
    };
    struct cluster *c = *state;
    c->host.resync_ms = 7000;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char lua[400];
        snprintf(lua, sizeof lua, "local k8s = require 'k8s'\n%s:on_add(print%s)", cases[i].informer,
                 cases[i].handler);
        struct script *script = cluster_load(c, "periods", lua);
        cluster_resolve(c);
        assert_int_equal(period_ms(script), cases[i].period_ms);
        script_free(script);
        cluster_settle(c);
    }
}

static bool has_module(struct script *script, const char *name)
{
    push_ref(script->L, script, REF_INTERNAL);
    lua_getfield(script->L, -1, name);
    bool has = !lua_isnil(script->L, -1);
    lua_pop(script->L, 2);
    return has;
}

/* What only loading needs has gone by then. */
static void test_handlers_may_come_once_the_script_has_loaded(void **state)
{
    struct cluster *c = *state;
    struct script *script =
        cluster_load(c, "late", "k8s = require 'k8s' pods = k8s.informer('pods', { resync = '5m' })");
    cluster_resolve(c);
    assert_false(has_module(script, "k8s.factory") || has_module(script, "k8s.handler_options") ||
                 has_module(script, "k8s.plan") || has_module(script, "k8s.options"));
    assert_ask(c, script, "pods:on_add(print, { selector = 'x=1' })", "nil");
    assert_int_equal(period_ms(script), 300000);
    assert_true(has_module(script, "k8s.handler_options"));
    assert_ask(c, script, "return tostring(select(2, pcall(k8s.informer, 'pods'))):match 'k8s.informer.*'",
               "k8s.informer may not be called in a snippet");
    script_free(script);
}

static void test_bad_options_are_named_with_the_script_s_line(void **state)
{
    static const struct {
        const char *options, *part;
    } cases[] = {
        {"selector = 'a==b==c'", "options.lua:12: add_event_handler: selector: selector \"a==b==c\""},
        {"selectr = 'a'", "unknown option \"selectr\", did you mean \"selector\"?"},
        {"namespaces = 'a'", "namespaces must be a table, not string"},
        {"namespaces = {}", "namespaces must be a non-empty list of strings"},
        {"namespaces = { 'A' }", "namespaces: namespace \"A\": expected a name"},
        {"namespaces = { 1 }", "namespaces must be a non-empty list of strings"},
        {"where = { 'a' }", "where must have paths as keys, not number"},
        {"where = { ['a..b'] = 1 }", "where: path \"a..b\": "},
        {"where = { a = {} }", "where: \"a\" must have a value, or a list of them"},
        {"where = { a = print }",
         "where: \"a\": a value must be a string, a number, a boolean or k8s.null, not function"},
        {"changed = { 'a[' }", "changed: path \"a[\": "},
        {"filter = 'x'", "filter must be a function, not string"},
        {"resync = true", "resync must be a duration, not boolean"},
        {"resync = '5 apples'", "resync must be a number of seconds, or a string such as \"90s\", \"500ms\" "
                                "or \"1h30m\", not \"5 apples\""},
        {"unchanged = 1", "unchanged must be a boolean, not number"},
    };
    struct cluster *c = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char lua[400];
        snprintf(lua, sizeof lua,
                 "local k8s = require 'k8s'\n\n\n\n\n\n\n\n\n\n\n"
                 "k8s.informer('pods'):add_event_handler { OnAdd = print, %s }\n",
                 cases[i].options);
        const char *error = cluster_load_error(c, "options", lua);
        if (!strstr(error, cases[i].part)) fail_msg("%s\n  gave: %s", cases[i].options, error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, cluster_setup, cluster_teardown)
        T(test_i18_a_filter_makes_adds_and_deletes_of_updates),
        T(test_values_at_paths_are_compared_in_c),
        T(test_a_filter_function_has_the_last_word),
        T(test_a_filter_that_fails_keeps_its_object_out_and_is_counted),
        T(test_a_filter_may_not_wait),
        T(test_a_filter_may_remove_its_handler),
        T(test_changed_leaves_out_updates_that_do_not_touch_its_paths),
        T(test_shorthands_take_the_options_too),
        T(test_i15_the_period_is_the_handler_s_then_the_informer_s_the_factory_s_the_engine_s),
        T(test_handlers_may_come_once_the_script_has_loaded),
        T(test_bad_options_are_named_with_the_script_s_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
