/* core/script/caches/index_turns.c: index functions whose script has used up its time are called in its
 * turns; lookups are right all the same. The spec plays the CPU watch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/must.h"
#include "core/script/support/cluster.h"
#include "informer/shared/claim_index.h"
#include "script/caches/index_function.h"
#include "script/generation/script.h"
#include "script/vm/call.h"

/* Each call of the index function takes `ms`. */
static const char indexing[] =
    "k8s = require 'k8s' said, ms, calls = '', 0, 0\n"
    "function say(text) said = said .. text .. '; ' end\n"
    "function take() local text = said said = '' return text end\n"
    "pods = k8s.informer 'pods'\n"
    "pods:add_index('x', function(o, emit)\n"
    "  calls = calls + 1 compute(ms) if ms == 0 then say('?' .. o:name()) end emit(o:label 'x')\n"
    "end)\n"
    "function under(x) return table.concat(pods:lister():index_keys('x', x), ' ') end\n";

static struct virtual_clock *script_time;

static int l_compute(lua_State *L)
{
    script_time->now += lua_tointeger(L, 1);
    return 0;
}

static void set_compute(lua_State *L, void *ctx)
{
    lua_pushcfunction(L, l_compute);
    lua_setglobal(L, "compute");
}

static struct script *load(struct cluster *c, const char *more)
{
    struct buf lua = {0};
    buf_printf(&lua, "%s%s", indexing, more);
    c->script = cluster_load(c, "indexing", buf_text(&lua));
    script_time = &c->clock;
    must(script_call(c->script, "a spec", set_compute, NULL) == SCRIPT_OK);
    buf_clear(&lua);
    cluster_resolve(c);
    return c->script;
}

static void use_up(struct script *script)
{
    script->turn.ticks = 100;
}

static void turn(struct cluster *c)
{
    clock_fire(&c->clock.clock);
}

static size_t late(struct script *script)
{
    struct indexer *cache = claim_indexer(script_claim(script, 0));
    struct err err;
    bool is_namespace;
    struct claim_index *named = claim_find_index(script_claim(script, 0), STR("x"), &is_namespace, &err);
    return indexer_late_count(cache, claim_index_in(named, cache, &err));
}

static void test_objects_of_a_list_wait_for_turns(void **state)
{
    struct cluster *c = *state;
    struct script *script = load(c, "ms = 4");
    use_up(script);
    cluster_list(c, 0, "shop/a x=1;shop/b x=2;shop/c x=1;shop/d x=1");
    assert_int_equal(late(script), 4);
    turn(c); /* 10 ms, and the call that is running */
    assert_int_equal(late(script), 1);
    turn(c);
    assert_int_equal(late(script), 0);
    assert_false(index_functions_rest(script));
    assert_ask(c, script, "return under '1' .. ' ' .. calls", "shop/a shop/c shop/d 4");
    cluster_event(c, 0, LW_MODIFIED, "shop/a x=2"); /* straight again */
    assert_int_equal(late(script), 0);
    assert_ask(c, script, "return calls", "5");
}

static void test_s5_a_lookup_computes_what_is_missing_first(void **state)
{
    struct cluster *c = *state;
    struct script *script = load(c, "");
    cluster_list(c, 0, "shop/a x=1;shop/b x=1;shop/c x=1");
    use_up(script);
    cluster_event(c, 0, LW_MODIFIED, "shop/a x=2");
    cluster_event(c, 0, LW_MODIFIED, "shop/a x=3");
    cluster_event(c, 0, LW_MODIFIED, "shop/b x=2");
    cluster_event(c, 0, LW_DELETED, "shop/c x=1");
    cluster_event(c, 0, LW_ADDED, "shop/d x=1");
    assert_int_equal(late(script), 3); /* what is deleted needs no call */
    assert_ask(c, script, "take() return under '3' .. ' ' .. take()", "shop/a ?a; ?b; ?d; ");
    assert_int_equal(late(script), 0);
    assert_ask(c, script, "return under '1' .. ' ' .. under '2'", "shop/d shop/b");
    turn(c);
    assert_ask(c, script, "return take()", "");
    assert_false(index_functions_rest(script));
}

static void go_on(struct cluster *c)
{
    for (int i = 0; i < 3; i++) {
        turn(c);
        cluster_settle(c);
    }
}

static void test_s5_handlers_are_told_once_the_index_has_their_objects(void **state)
{
    struct cluster *c = *state;
    struct script *script = load(
        c, "pods:on_add(function(o) say('+' .. o:name() .. '=' .. under(o:label 'x')) end)\n"
           "pods:on_update(function(_, o) say('=' .. o:name() .. '=' .. under(o:label 'x')) end) ms = 4");
    use_up(script);
    cluster_list(c, 0, "shop/a x=1;shop/b x=1;shop/c x=1;shop/d x=1");
    turn(c);
    assert_ask(c, script, "return take()", "");
    assert_false(script_has_synced(script)); /* k8s.main waits, too */
    go_on(c);
    assert_true(script_has_synced(script));
#define ADDED(name) "+" name "=shop/a shop/b shop/c shop/d; "
    assert_ask(c, script, "return take()", ADDED("a") ADDED("b") ADDED("c") ADDED("d"));
    use_up(script);
    cluster_event(c, 0, LW_MODIFIED, "shop/a x=2");
    cluster_event(c, 0, LW_MODIFIED, "shop/b x=2");
    cluster_event(c, 0, LW_MODIFIED, "shop/c x=2");
    turn(c);
    cluster_event(c, 0, LW_MODIFIED, "shop/d x=2"); /* the script rests, though its next time has begun */
    assert_ask(c, script, "return take()", "");
    go_on(c);
#define UPDATED(name) "=" name "=shop/a shop/b shop/c shop/d; "
    assert_ask(c, script, "return take()", UPDATED("a") UPDATED("b") UPDATED("c") UPDATED("d"));
}

/* What cannot keep up delays its own script, but does not stop it. */
static void test_the_rest_of_a_script_has_turns_between(void **state)
{
    struct cluster *c = *state;
    struct script *script = load(c, "k8s.every('10ms', function() say '.' end) ms = 20");
    cluster_list(c, 0, "shop/a x=1;shop/b x=1");
    for (int i = 0; i < 20; i++) {
        use_up(script);
        cluster_event(c, 0, LW_MODIFIED, i % 2 ? "shop/a x=1" : "shop/a x=2");
        cluster_event(c, 0, LW_MODIFIED, i % 2 ? "shop/b x=1" : "shop/b x=2");
        turn(c);
    }
    assert_true(late(script) > 0);
    assert_ask(c, script, "return tostring(#take() > 5)", "true");
}

static void test_other_scripts_have_turns_between(void **state)
{
    struct cluster *c = *state;
    struct script *other =
        cluster_load(c, "other",
                     "k8s = require 'k8s' n = 0 k8s.every('10ms', function() n = n + 1 end) "
                     "k8s.informer 'pods':on_add(function() n = n + 100 end)");
    struct script *script = load(c, "ms = 9");
    use_up(script);
    cluster_list(c, 0, "shop/a;shop/b;shop/c;shop/d;shop/e;shop/f");
    assert_ask(c, other, "return n", "600"); /* its handlers are told at once */
    for (int i = 0; i < 4; i++) turn(c);
    assert_int_equal(late(script), 0);
    assert_ask(c, other, "return tostring(n >= 603)", "true");
    script_free(other);
}

/* A claim may come to a cache that has its objects already. */
static void test_an_index_of_a_full_cache_is_filled_in_turns(void **state)
{
    struct cluster *c = *state;
    struct script *other = cluster_load(c, "other", "k8s = require 'k8s' k8s.informer 'pods'");
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a x=1;shop/b x=2;shop/c x=1");
    c->script = cluster_load(c, "indexing", indexing);
    script_time = &c->clock;
    must(script_call(c->script, "a spec", set_compute, NULL) == SCRIPT_OK);
    use_up(c->script);
    cluster_resolve(c);
    assert_int_equal(late(c->script), 3);
    assert_ask(c, c->script, "return under '1'", "shop/a shop/c");
    script_free(other);
}

/* Inside of an index function a lookup takes what there is: its own time is for one object. */
static void test_an_index_function_reads_another_index_as_it_is(void **state)
{
    struct cluster *c = *state;
    struct script *script = load(c, "pods:add_index('y', function(o, emit) emit(under '1') end)\n");
    cluster_list(c, 0, "shop/a x=1");
    use_up(script);
    cluster_event(c, 0, LW_ADDED, "shop/b x=1");
    assert_ask(c, script, "return table.concat(pods:lister():index_keys('y', 'shop/a'), ' ')",
               "shop/a shop/b");
    assert_ask(c, script, "return under '1'", "shop/a shop/b");
}

/* And it ends while objects are late. */
static void test_an_informer_of_namespaces_has_a_late_index_too(void **state)
{
    struct cluster *c = *state;
    c->script =
        cluster_load(c, "two",
                     "k8s = require 'k8s' pods = k8s.informer('pods', { namespaces = { 'a', 'b' } })\n"
                     "pods:add_index('x', function(o, emit) emit(o:label 'x') end)\n"
                     "function under(x) return table.concat(pods:lister():index_keys('x', x), ' ') end");
    cluster_resolve(c);
    use_up(c->script);
    cluster_list(c, 0, "a/1 x=1;a/2 x=1");
    cluster_list(c, 1, "b/1 x=1;b/2 x=2");
    assert_int_equal(late(c->script), 4);
    assert_ask(c, c->script, "return under '1'", "a/1 a/2 b/1");
    cluster_event(c, 0, LW_DELETED, "a/1 x=1");
    cluster_event(c, 0, LW_MODIFIED, "a/2 x=3");
    assert_int_equal(late(c->script), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, cluster_setup_by_hand, cluster_teardown)
        T(test_objects_of_a_list_wait_for_turns),
        T(test_s5_a_lookup_computes_what_is_missing_first),
        T(test_s5_handlers_are_told_once_the_index_has_their_objects),
        T(test_the_rest_of_a_script_has_turns_between),
        T(test_other_scripts_have_turns_between),
        T(test_an_index_of_a_full_cache_is_filled_in_turns),
        T(test_an_index_function_reads_another_index_as_it_is),
        T(test_an_informer_of_namespaces_has_a_late_index_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
