/* core/script/handlers/delivery.c: changes that a handler keeps because its script has used up its time, for
 * the next turn of that script. The spec plays the CPU watch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/script/support/cluster.h"
#include "script/handlers/delivery.h"

/* Handler "picky" has a filter for the label x=yes, "plain" has none. */
static const char handlers[] =
    "k8s = require 'k8s' said = ''\n"
    "function say(...) said = said .. table.concat({...}, ' ') .. '; ' end\n"
    "function take() local text = said said = '' return text end\n"
    "pods = k8s.informer 'pods'\n"
    "picky = pods:add_event_handler {\n"
    "  id = 'picky', filter = function(o) say('?' .. o:name()) return o:label 'x' == 'yes' end,\n"
    "  OnAdd = function(o, ev) say('add', o:name(), ev.filtered and 'f' or '', ev.initial and 'i' or '') "
    "end,\n"
    "  OnUpdate = function(a, b) say('update', a:resource_version() < b:resource_version() and b:name()) "
    "end,\n"
    "  OnDelete = function(o, ev) say('delete', o:name(), ev.filtered and 'f' or '') end,\n"
    "}\n"
    "plain = pods:add_event_handler {\n"
    "  OnAdd = function(o) say('+' .. o:name()) end, OnUpdate = function(_, o) say('=' .. o:name()) end,\n"
    "  OnDelete = function(o) say('-' .. o:name()) end }\n";

static struct script *load(struct cluster *c)
{
    c->script = cluster_load(c, "handlers", handlers);
    cluster_resolve(c);
    return c->script;
}

static void use_up(struct script *script)
{
    script->turn.ticks = 100;
}

static void turn(struct cluster *c)
{
    virtual_clock_advance(&c->clock, 0);
}

static void test_i8_changes_wait_for_the_turn_and_then_come_in_order(void **state)
{
    struct cluster *c = *state;
    struct script *script = load(c);
    cluster_list(c, 0, "shop/a x=yes;shop/b");
    assert_ask(c, script, "return take()", "?a; add a  i; ?b; +a; +b; ");
    use_up(script);
    cluster_event(c, 0, LW_MODIFIED, "shop/a x=no");
    cluster_event(c, 0, LW_MODIFIED, "shop/b x=yes");
    cluster_event(c, 0, LW_DELETED, "shop/b x=yes");
    assert_ask(c, script, "return take()", ""); /* no filter runs either */
    assert_int_equal(delivery_backlog(TAILQ_FIRST(&script->own.handlers->list)), 3);
    turn(c);
    assert_ask(c, script, "return take()",
               "?a; ?a; delete a f; ?b; ?b; add b f ; ?b; delete b ; =a; =b; -b; ");
    cluster_event(c, 0, LW_MODIFIED, "shop/a x=yes"); /* straight again */
    assert_ask(c, script, "return take()", "?a; ?a; add a f ; =a; ");
}

static void test_a_script_is_synced_when_kept_objects_have_come(void **state)
{
    struct cluster *c = *state;
    struct script *script = load(c);
    use_up(script);
    cluster_list(c, 0, "shop/a x=yes");
    assert_ask(c, script, "return take() .. tostring(picky:has_synced())", "false");
    assert_false(script_has_synced(script)); /* k8s.main waits, too */
    turn(c);
    assert_true(script_has_synced(script));
    assert_ask(c, script, "return take() .. tostring(picky:has_synced())", "?a; add a  i; +a; true");
}

/* A call that waits for long must not hold up k8s.main, as it does not where nothing was kept. */
static void test_a_script_is_synced_while_a_call_for_a_kept_object_waits(void **state)
{
    struct cluster *c = *state;
    struct script *script = c->script =
        cluster_load(c, "handlers",
                     "k8s = require 'k8s' said = ''\n"
                     "k8s.informer('pods'):on_add(function(o) said = said .. o:name() k8s.sleep '1h' end)");
    cluster_resolve(c);
    use_up(script);
    cluster_list(c, 0, "shop/a;shop/b;shop/c");
    assert_false(script_has_synced(script));
    turn(c);
    assert_ask(c, script, "return said", "a");
    assert_true(script_has_synced(script));
    assert_int_equal(delivery_backlog(TAILQ_FIRST(&script->own.handlers->list)), 2);
    virtual_clock_advance(&c->clock, 3600000);
    assert_ask(c, script, "return said", "ab");
}

/* As in a list of pending events: at most `mark` and two for each key, whatever comes. */
static void test_i8_what_is_kept_is_bounded(void **state)
{
    struct cluster *c = *state;
    struct script *script = load(c);
    cluster_list(c, 0, "shop/a x=yes");
    use_up(script);
    for (int i = 0; i < 2000; i++) cluster_event(c, 0, LW_MODIFIED, i % 2 ? "shop/a x=yes" : "shop/a x=no");
    assert_int_equal(delivery_backlog(TAILQ_FIRST(&script->own.handlers->list)), 1024);
    turn(c);
}

static void test_a_handler_that_is_removed_receives_nothing_that_it_kept(void **state)
{
    struct cluster *c = *state;
    struct script *script = load(c);
    use_up(script);
    cluster_list(c, 0, "shop/a x=yes");
    assert_ask(c, script, "picky:remove() return take()", "");
    turn(c);
    assert_ask(c, script, "return take()", "+a; ");
}

/* The successor continues where the previous generation was; here it was told of all by itself before. */
static void test_a_reload_hands_kept_changes_over(void **state)
{
    struct cluster *c = *state;
    struct script *script = load(c), *next = cluster_load(c, "next", handlers);
    struct script_handler *from = TAILQ_FIRST(&script->own.handlers->list),
                          *to = TAILQ_FIRST(&next->own.handlers->list);
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a x=yes;shop/b x=yes");
    use_up(script);
    cluster_event(c, 0, LW_MODIFIED, "shop/a x=no");
    cluster_event(c, 0, LW_DELETED, "shop/b x=yes");
    assert_ask(c, next, "take() return ''", "");
    delivery_handover(from, to);
    assert_int_equal(delivery_backlog(from), 0);
    assert_int_equal(delivery_backlog(to), 2);
    turn(c);
    assert_ask(c, next, "return take()", "?a; ?a; delete a f; ?b; delete b ; ");
    script_free(next);
}

/* One that starts over gets deletes alone, as the cache cannot deliver them. */
static void test_one_that_starts_over_gets_the_deletes(void **state)
{
    struct cluster *c = *state;
    struct script *script = load(c), *next = cluster_load(c, "next", handlers);
    struct script_handler *from = TAILQ_FIRST(&script->own.handlers->list),
                          *to = TAILQ_FIRST(&next->own.handlers->list);
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a x=yes;shop/b x=yes");
    use_up(script);
    cluster_event(c, 0, LW_MODIFIED, "shop/a x=no");
    cluster_event(c, 0, LW_DELETED, "shop/b x=yes");
    assert_ask(c, next, "take() return ''", "");
    delivery_handover_deletes(from, to);
    assert_int_equal(delivery_backlog(from), 0);
    turn(c);
    assert_ask(c, next, "return take()", "?b; add b  i; delete b ; ");
    script_free(next);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, cluster_setup_by_hand, cluster_teardown)
        T(test_i8_changes_wait_for_the_turn_and_then_come_in_order),
        T(test_a_script_is_synced_when_kept_objects_have_come),
        T(test_a_script_is_synced_while_a_call_for_a_kept_object_waits),
        T(test_i8_what_is_kept_is_bounded),
        T(test_a_handler_that_is_removed_receives_nothing_that_it_kept),
        T(test_a_reload_hands_kept_changes_over),
        T(test_one_that_starts_over_gets_the_deletes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
