/* core/script/handlers/pending_events.c: what a delete says of the state that its handler was told last (I-8,
 * B-5). How events join is in pending_events_spec.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "core/script/support/cluster.h"
#include "core/script/support/fixture.h"
#include "informer/reflect/delta_fifo.h"
#include "informer/shared/shared_factory_internal.h"
#include "script/handlers/pending_events.h"

/* --- what counts as another state */

#define POD(metadata, rest) \
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"," metadata "}" rest "}"

static bool is_another(struct fixture *f, const char *told, const char *last)
{
    struct handler_event event = {.type = ON_DELETE, .object = fixture_pack(f, last)};
    if (told) event.old_object = fixture_pack(f, told);
    struct root *previous = event_previous(&event);
    assert_true(!previous || previous == event.old_object);
    event.type = ON_UPDATE; /* its old object is an argument */
    assert_null(event_previous(&event));
    event_let_go(&event);
    return previous;
}

static void test_states_that_differ_in_their_version_alone_are_the_same(void **state)
{
    struct fixture *f = *state;
    static const char one[] = POD("\"uid\":\"u\",\"resourceVersion\":\"1\"", ",\"spec\":{\"x\":1}");
    static const char *const same[] = {
        one,
        POD("\"uid\":\"u\",\"resourceVersion\":\"2\"", ",\"spec\":{\"x\":1}"),
        POD("\"resourceVersion\":\"2\",\"uid\":\"u\"", ",\"spec\":{\"x\":1}"),
    };
    static const char *const others[] = {
        POD("\"uid\":\"v\",\"resourceVersion\":\"2\"", ",\"spec\":{\"x\":1}"),
        POD("\"uid\":\"u\",\"resourceVersion\":\"2\"", ",\"spec\":{\"x\":2}"),
        POD("\"uid\":\"u\",\"resourceVersion\":\"1\"", ",\"spec\":{\"x\":2}"),
        POD("\"uid\":\"u\",\"resourceVersion\":\"1\",\"labels\":{\"a\":\"b\"}", ",\"spec\":{\"x\":1}"),
        POD("\"uid\":\"u\",\"labels\":{\"a\":\"b\"}", ",\"spec\":{\"x\":1}"),
        POD("\"uid\":\"u\",\"resourceVersion\":\"1\"", ",\"spec\":{\"resourceVersion\":1}"),
        POD("\"uid\":\"u\",\"resourceVersion\":\"1\"", ""),
        POD("\"uid\":\"u\",\"resourceVersion\":\"1\"", ",\"status\":{\"x\":1}"),
        POD("\"uid\":\"u\",\"resourceVersion\":\"1\"", ",\"spec\":{\"x\":1},\"status\":{}"),
    };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        assert_false(is_another(f, one, same[i]));
        assert_false(is_another(f, same[i], one));
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_true(is_another(f, one, others[i]));
        assert_true(is_another(f, others[i], one));
    }
    assert_false(is_another(f, NULL, one)); /* it was told of none */
}

/* --- ev.previous */

/* Says of each event the label x of its objects: "-was>last". */
static const char watcher[] =
    "k8s = require 'k8s' said = ''\n"
    "function take() local text = said said = '' return text end\n"
    "local function x(o) return o and (o:label 'x' or '') end\n"
    "local function say(...) said = said .. table.concat({...}) .. ' ' end\n"
    "options.OnAdd = function(o, ev) say('+', x(o), ev.previous and '!' or '') end\n"
    "options.OnUpdate = function(a, o, ev) say('=', x(a), '>', x(o), ev.previous and '!' or '') end\n"
    "options.OnDelete = function(o, ev) say('-', ev.previous and x(ev.previous) .. '>' or '', x(o)) end\n"
    "pods = k8s.informer 'pods' pods:add_event_handler(options)\n";

static struct script *load(struct cluster *c, const char *options)
{
    struct buf text = {0};
    buf_printf(&text, "options = { %s }\n%s", options, watcher);
    struct script *script = cluster_load(c, "watcher", buf_text(&text));
    buf_clear(&text);
    cluster_resolve(c);
    return script;
}

static void test_a_delete_has_the_state_before_it_when_the_last_one_is_another(void **state)
{
    struct cluster *c = *state;
    struct script *script = load(c, "");
    cluster_list(c, 0, "shop/a x=1;shop/b x=1;shop/c x=1");
    assert_ask(c, script, "return take()", "+1 +1 +1 ");
    cluster_event(c, 0, LW_DELETED, "shop/a x=1"); /* of another version */
    cluster_event(c, 0, LW_DELETED, "shop/b x=2");
    assert_ask(c, script, "return take()", "-1 -1>2 ");
    cluster_list(c, 0, "");
    assert_ask(c, script, "return take()", "-1 "); /* it is the last one known */
    cluster_event(c, 0, LW_DELETED, "shop/d x=3"); /* of which nobody has heard */
    assert_ask(c, script, "return take()", "-3 ");
    script_free(script);
}

static void test_a_delete_that_a_filter_makes_or_lets_through_has_the_delivered_state(void **state)
{
    struct cluster *c = *state;
    struct script *script = load(c, "where = { ['metadata.labels.app'] = 'web' }");
    cluster_list(c, 0, "shop/a app=web x=1;shop/b app=web x=1");
    cluster_event(c, 0, LW_MODIFIED, "shop/a app=db x=2");
    cluster_event(c, 0, LW_DELETED, "shop/b app=db x=2");
    assert_ask(c, script, "return take()", "+1 +1 -1 -1>2 ");
    script_free(script);
}

/* In the queue between the threads an update and a delete are one already. */
static void test_a_delete_that_was_compressed_has_the_state_before_all_of_it(void **state)
{
    struct cluster *c = *state;
    struct script *script = load(c, "");
    struct informer_set *set = script_claim(script, 0)->set;
    delta_fifo_set_mark(shared_informer_fifo(set->members[0]->informer), 2);
    cluster_list(c, 0, "shop/a x=1");
    for (int i = 0; i < 5; i++) cluster_feed(c, 0, LW_MODIFIED, i % 2 ? "shop/a x=2" : "shop/a x=3");
    cluster_event(c, 0, LW_DELETED, "shop/a x=3");
    assert_ask(c, script, "return take()", "+1 -1>3 ");
    script_free(script);
}

static void test_both_states_of_a_delete_count_as_garbage_of_some_weight(void **state)
{
    struct cluster *c = *state;
    struct script *script = load(c, "");
    cluster_list(c, 0, "shop/a x=1;shop/b x=1");
    assert_int_equal(script->heap.dead_objects, 0);
    cluster_event(c, 0, LW_DELETED, "shop/a x=1");
    assert_int_equal(script->heap.dead_objects, 1);
    cluster_event(c, 0, LW_DELETED, "shop/b x=2");
    assert_int_equal(script->heap.dead_objects, 3);
    script_free(script);
}

/* A cycle of the collector walks all that lives, which may be a table with an entry for each object; some
 * calls later it has ended. */
enum { CACHED = 9000, FEW = CACHED / 8 - 1 };

static void list_many(struct cluster *c)
{
    struct buf list = {0};
    for (int i = 0; i < CACHED; i++) buf_printf(&list, "%sshop/p%d x=1", i ? ";" : "", i);
    cluster_list(c, 0, buf_text(&list));
    buf_clear(&list);
}

static void update_some(struct cluster *c, int count, int x)
{
    struct buf event = {0};
    for (int i = 0; i < count; i++) {
        event.len = 0;
        buf_printf(&event, "shop/p%d x=%d", i, x);
        cluster_event(c, 0, LW_MODIFIED, buf_text(&event));
    }
    buf_clear(&event);
}

static void test_garbage_is_collected_when_it_is_much_beside_the_cache(void **state)
{
    struct cluster *c = *state;
    struct script *script = load(c, "");
    list_many(c);
    update_some(c, FEW, 2);
    assert_int_equal(script->heap.dead_objects, FEW); /* over a thousand, which is much for a small cache */
    cluster_event(c, 0, LW_MODIFIED, "shop/p8000 x=2");
    for (int i = 0; i < 100; i++) assert_ask(c, script, "return 1", "1");
    assert_int_equal(script->heap.dead_objects, 0);
    assert_in_range(script->retained.count, 0, 9);
    script_free(script);
}

/* Each call of a script that collects takes longer, so that an event would wait for all of them. */
static void test_scripts_collect_one_after_the_other_unless_one_is_late(void **state)
{
    static struct script idle; /* is never called */
    struct cluster *c = *state;
    struct script *one = load(c, ""), *other = load(c, "");
    list_many(c);
    update_some(c, FEW, 2);
    cluster_event(c, 0, LW_MODIFIED, "shop/p8000 x=2");
    assert_int_equal((one->heap.pace.hurry > 0) + (other->heap.pace.hurry > 0), 1);
    struct script *first = one->heap.pace.hurry > 0 ? one : other, *second = first == one ? other : one;
    for (int i = 0; i < 100; i++) assert_ask(c, first, "return 1", "1");
    assert_int_equal(first->heap.dead_objects, 0);
    assert_int_equal(second->heap.dead_objects, FEW + 1);
    cluster_event(c, 0, LW_MODIFIED, "shop/p8001 x=2");
    assert_true(second->heap.pace.hurry > 0 || second->heap.dead_objects == 0);
    c->turns.hasty = &idle;
    for (int i = 0; i < 100; i++) assert_ask(c, second, "return 1", "1");
    assert_int_equal(second->heap.dead_objects, 0);
    update_some(c, FEW + 1, 3);
    assert_int_equal(second->heap.pace.hurry, 0);
    update_some(c, FEW + 2, 4);
    for (int i = 0; i < 100; i++) assert_ask(c, second, "return 1", "1");
    assert_in_range(second->heap.dead_objects, 0, FEW);
    script_free(one);
    assert_ptr_equal(c->turns.hasty, &idle);
    c->turns.hasty = other;
    script_free(other);
    assert_null(c->turns.hasty);
}

static void test_a_queue_gets_the_keys_of_both_states_of_a_delete(void **state)
{
    struct cluster *c = *state;
    struct script *script =
        cluster_load(c, "queue",
                     "k8s = require 'k8s' said = ''\n"
                     "local q = k8s.queue { name = 'q' }\n"
                     "q:run(function(key) said = said .. key .. ' ' end)\n"
                     "local keys = q:enqueuer(function(o) return 'x' .. o:label 'x' end)\n"
                     "k8s.informer('pods'):on_delete(keys)\n");
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a x=1;shop/b x=1");
    cluster_event(c, 0, LW_DELETED, "shop/a x=2");
    assert_ask(c, script, "local text = said said = '' return text", "x2 x1 ");
    cluster_event(c, 0, LW_DELETED, "shop/b x=1");
    assert_ask(c, script, "return said", "x1 ");
    script_free(script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, cluster_setup, cluster_teardown)
        cmocka_unit_test_setup_teardown(test_states_that_differ_in_their_version_alone_are_the_same,
                                        fixture_setup, fixture_teardown),
        T(test_a_delete_has_the_state_before_it_when_the_last_one_is_another),
        T(test_a_delete_that_a_filter_makes_or_lets_through_has_the_delivered_state),
        T(test_a_delete_that_was_compressed_has_the_state_before_all_of_it),
        T(test_a_queue_gets_the_keys_of_both_states_of_a_delete),
        T(test_both_states_of_a_delete_count_as_garbage_of_some_weight),
        T(test_garbage_is_collected_when_it_is_much_beside_the_cache),
        T(test_scripts_collect_one_after_the_other_unless_one_is_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
