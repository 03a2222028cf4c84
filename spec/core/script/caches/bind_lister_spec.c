/* core/script/caches/bind_lister.c: reading a cache (contract F-11, F-12). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/script/support/cluster.h"

static int setup(void **state)
{
    cluster_setup(state);
    struct cluster *c = *state;
    c->script =
        cluster_load(c, "reader",
                     "k8s = require 'k8s'\n"
                     "pods = k8s.informer('pods'):lister() nodes = k8s.informer('nodes'):lister()\n"
                     "function names(iterator) local t = {} for o in iterator do t[#t + 1] = o:key() end "
                     "return table.concat(t, ' ') end\n");
    return 0;
}

static void fill(struct cluster *c)
{
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a app=web;shop/b app=db;other/a app=web tier=x");
    cluster_list(c, 1, "n1;n2");
}

static void test_lists_come_in_the_order_of_the_cache_by_selector_and_namespace(void **state)
{
    struct cluster *c = *state;
    fill(c);
    assert_ask(c, c->script, "return names(pods:list())", "shop/a shop/b other/a");
    assert_ask(c, c->script, "return names(pods:list '')", "shop/a shop/b other/a");
    assert_ask(c, c->script, "return names(pods:list 'app=web')", "shop/a other/a");
    assert_ask(c, c->script, "return names(pods:list 'app in (web), !tier')", "shop/a");
    assert_ask(c, c->script, "return names(pods:namespace(''):list())", "shop/a shop/b other/a");
    assert_ask(
        c, c->script, "pods:namespace 'shop*'",
        "raised: question.lua:1: lister:namespace: \"shop*\" is not a valid namespace name: lower-case "
        "letters, digits and '-', at most 63 characters; patterns are only supported in namespaces of "
        "handlers");
    assert_ask(c, c->script, "return names(pods:namespace('shop'):list())", "shop/a shop/b");
    assert_ask(c, c->script, "return names(pods:namespace('shop'):list 'app=db')", "shop/b");
    assert_ask(c, c->script, "return names(pods:namespace('nowhere'):list())", "");
    assert_ask(c, c->script, "local all = pods:list_all 'app=web' return #all .. all[2]:key()", "2other/a");
    assert_ask(c, c->script, "return #pods:namespace('shop'):list_all()", "2");
    assert_ask(c, c->script, "return pods:count() .. pods:count 'app=web' .. pods:namespace('shop'):count()",
               "322");
}

static void test_get_finds_by_key(void **state)
{
    struct cluster *c = *state;
    fill(c);
    assert_ask(c, c->script, "return pods:get('shop/b'):label 'app'", "db");
    assert_ask(c, c->script, "return pods:namespace('other'):get('a'):key()", "other/a");
    assert_ask(c, c->script, "return nodes:get('n2'):key()", "n2");
}

static void test_what_is_not_there_is_an_error_value_with_the_words_of_client_go(void **state)
{
    struct cluster *c = *state;
    fill(c);
    assert_ask(c, c->script,
               "local o, err = pods:get 'shop/x' return tostring(o) .. err.code .. err.reason .. err.message",
               "nil404NotFoundpods \"x\" not found");
    assert_ask(c, c->script, "return tostring(select(2, pods:namespace('shop'):get 'x'))",
               "pods \"x\" not found");
    assert_ask(c, c->script, "return tostring(select(2, nodes:get 'x'))", "nodes \"x\" not found");
}

/* S-1 */
static void test_a_wrong_key_raises(void **state)
{
    struct cluster *c = *state;
    fill(c);
    assert_ask(
        c, c->script, "pods:get 'a'",
        "raised: question.lua:1: lister:get: \"a\": the key of a namespaced object is \"namespace/name\"");
    assert_ask(c, c->script, "pods:get 'a/b/c'",
               "raised: question.lua:1: lister:get: unexpected key format: \"a/b/c\"");
    assert_ask(c, c->script, "pods:get ''",
               "raised: question.lua:1: lister:get: unexpected key format: \"\"");
    assert_ask(c, c->script, "pods:get(1)",
               "raised: question.lua:1: lister:get: key must be a string, not number");
    assert_ask(
        c, c->script, "pods:namespace('shop'):get 'shop/a'",
        "raised: question.lua:1: lister:get: \"shop/a\": a lister of one namespace takes a name, not a key");
    assert_ask(c, c->script, "pods.get('shop/a')",
               "raised: question.lua:1: lister:get: called on string, not on a lister (methods are called "
               "with ':')");
}

static void test_a_bad_selector_raises(void **state)
{
    struct cluster *c = *state;
    fill(c);
    assert_non_null(strstr(cluster_ask(c, c->script, "pods:list 'a=b=c'"),
                           "raised: question.lua:1: lister:list: selector: "));
    assert_non_null(
        strstr(cluster_ask(c, c->script, "pods:count(1)"), "selector must be a string, not number"));
}

static void test_a_list_does_not_change_while_it_is_walked(void **state)
{
    struct cluster *c = *state;
    fill(c);
    assert_ask(c, c->script, "walk = pods:list() return walk():key()", "shop/a");
    cluster_event(c, 0, LW_DELETED, "shop/b");
    cluster_event(c, 0, LW_ADDED, "shop/c");
    assert_ask(c, c->script, "return names(walk)", "shop/b other/a");
    assert_ask(c, c->script, "return walk()", "nil");
    assert_ask(c, c->script, "return names(pods:list())", "shop/a other/a shop/c");
    assert_ask(c, c->script, "half = pods:list() half()", "nil"); /* never walked to its end */
}

static void test_a_cache_without_an_informer_is_empty(void **state)
{
    struct cluster *c = *state;
    assert_ask(c, c->script, "return pods:count() .. #pods:list_all() .. names(pods:list())", "00");
    assert_ask(c, c->script, "return tostring(select(2, pods:get 'shop/a'))", "pods \"a\" not found");
}

/* --- memory that runs out */

static lua_Alloc plain_alloc;
static int allocations_left; /* until one fails; 0: none does */

static void *failing_alloc(void *ctx, void *block, size_t old_size, size_t size)
{
    bool grows = size > (block ? old_size : 0);
    if (grows && allocations_left > 0 && --allocations_left == 0) return NULL;
    return plain_alloc(ctx, block, old_size, size);
}

/* That nothing leaks is what cluster_teardown and LeakSanitizer find. */
static void fail_each_allocation(struct cluster *c, const char *lua, const char *expected)
{
    lua_State *L = c->script->L;
    void *ctx;
    int failed = -1;
    plain_alloc = lua_getallocf(L, &ctx);
    const char *got;
    do {
        allocations_left = ++failed + 1;
        lua_setallocf(L, failing_alloc, ctx);
        got = cluster_ask(c, c->script, lua);
        lua_setallocf(L, plain_alloc, ctx);
    } while (allocations_left == 0);
    assert_string_equal(got, expected);
    assert_true(failed > 10);
    assert_ask(c, c->script, lua, expected);
}

static void test_a_list_that_memory_ends_for_leaks_nothing(void **state)
{
    struct cluster *c = *state;
    fill(c);
    fail_each_allocation(c, "return table.concat(pods:index_keys('namespace', 'shop'), ' ')",
                         "shop/a shop/b");
    fail_each_allocation(c, "return #pods:by_index('namespace', 'shop') .. pods:list_all()[3]:key()",
                         "2other/a");
    fail_each_allocation(c, "return table.concat(pods:index_values 'namespace', ' ')", "other shop");
    fail_each_allocation(c, "return names(pods:list 'app=web')", "shop/a other/a");
}

static void test_listers_have_a_useful_text(void **state)
{
    struct cluster *c = *state;
    assert_ask(c, c->script, "return tostring(pods) .. ', ' .. tostring(pods:namespace 'shop')",
               "lister pods, lister pods in shop");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, cluster_teardown)
        T(test_lists_come_in_the_order_of_the_cache_by_selector_and_namespace),
        T(test_get_finds_by_key),
        T(test_what_is_not_there_is_an_error_value_with_the_words_of_client_go),
        T(test_a_wrong_key_raises),
        T(test_a_bad_selector_raises),
        T(test_a_list_does_not_change_while_it_is_walked),
        T(test_a_cache_without_an_informer_is_empty),
        T(test_a_list_that_memory_ends_for_leaks_nothing),
        T(test_listers_have_a_useful_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
