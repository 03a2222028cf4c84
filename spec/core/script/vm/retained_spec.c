/* core/script/vm/retained.c: objects that a script keeps alive, and its caches do not, are its memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "core/script/support/cluster.h"
#include "script/vm/memory.h"
#include "script/vm/retained.h"

static const char keeper[] = "k8s = require 'k8s' pods = k8s.informer 'pods' kept = {}\n"
                             "pods:add_event_handler { id = 'keeper', OnUpdate = function(old) if keeps then "
                             "kept[#kept + 1] = old end end }\n";

static void begin(struct cluster *c)
{
    c->script = cluster_load(c, "keeper", keeper);
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a;shop/b;shop/c");
}

/* Each update makes an object that shares nothing with the one before. */
static void update(struct cluster *c, int from, int to)
{
    char object[1000];
    for (int i = from; i < to; i++) {
        int len = snprintf(object, sizeof object, "shop/a");
        for (int label = 0; label < 12; label++)
            len += snprintf(object + len, sizeof object - (size_t)len, " l%d=%d-%053d", label, label, i);
        cluster_event(c, 0, LW_MODIFIED, object);
    }
}

static size_t held(struct cluster *c)
{
    memory_collect(c->script->L);
    return c->script->retained.bytes;
}

static void test_what_the_cache_has_too_costs_nothing(void **state)
{
    struct cluster *c = *state;
    begin(c);
    cluster_ask(c, c->script, "kept = pods:lister():list_all()");
    assert_int_equal(held(c), 0);
}

static void test_what_the_cache_has_left_counts_until_it_is_let_go(void **state)
{
    struct cluster *c = *state;
    begin(c);
    cluster_ask(c, c->script, "kept = pods:lister():list_all()");
    size_t before = c->script->memory;
    update(c, 0, 1);
    size_t one = held(c);
    assert_in_range(one, 50, 5000);
    assert_in_range(c->script->memory, before - 60000 + one, before + 60000 + one);
    cluster_event(c, 0, LW_DELETED, "shop/b");
    assert_in_range(held(c), one + 50, one + 5000);
    cluster_ask(c, c->script, "kept = nil");
    assert_int_equal(held(c), 0);
}

static void test_many_views_of_one_object_count_once(void **state)
{
    struct cluster *c = *state;
    begin(c);
    cluster_ask(c, c->script, "kept[1] = pods:lister():get 'shop/a'");
    update(c, 0, 1);
    size_t one = held(c);
    cluster_ask(c, c->script,
                "for i = 2, 50 do kept[i] = i % 2 == 0 and kept[1].metadata or k8s.object.is_view(kept[1]) "
                "and kept[1] end other = pods:lister():get 'shop/b' for i = 1, 9 do kept[#kept + 1] = "
                "other.metadata kept[#kept + 1] = kept[1].metadata end");
    assert_int_equal(held(c), one);
}

static void test_it_is_found_while_events_come(void **state)
{
    struct cluster *c = *state;
    begin(c);
    c->script->limits.values[LIMIT_SCRIPT_MEMORY] = 1 << 20;
    memory_set_limit(c->script);
    cluster_ask(c, c->script, "keeps = true");
    update(c, 0, 500);
    assert_in_range(c->script->retained.bytes, 100 * 500, 1 << 21);
    cluster_ask(c, c->script, "keeps = false kept = {}");
    update(c, 500, 1000);
    assert_int_equal(held(c), 0);
}

/* As a prompt's are, in which a look at each would hold up the handlers. */
static size_t estimate(struct cluster *c)
{
    memory_collect(c->script->L);
    retained_recount(c->script, false);
    return c->script->retained.bytes;
}

static void test_those_of_a_prompt_are_estimated(void **state)
{
    enum { MANY = 9000 };
    struct cluster *c = *state;
    begin(c);
    cluster_ask(c, c->script, "keeps = true");
    update(c, 0, MANY);
    size_t exact = held(c);
    assert_in_range(exact, 100 * MANY, 5000 * MANY);
    assert_in_range(estimate(c), exact - exact / 20, exact + exact / 20);
    cluster_ask(c, c->script, "keeps = false kept = {}");
    assert_int_equal(estimate(c), 0);
}

static void test_an_estimate_counts_many_views_of_some_objects_once(void **state)
{
    struct cluster *c = *state;
    begin(c);
    cluster_ask(c, c->script,
                "for i = 1, 10000 do kept[i] = pods:lister():get(i % 2 == 0 and 'shop/a' or 'shop/b') end");
    assert_in_range(c->script->retained.count, 10000, 10100);
    cluster_event(c, 0, LW_DELETED, "shop/a");
    cluster_event(c, 0, LW_DELETED, "shop/b");
    size_t exact = held(c);
    assert_in_range(exact, 100, 5000);
    assert_int_equal(estimate(c), exact);
}

static void test_an_excess_of_retained_objects_is_reported(void **state)
{
    struct cluster *c = *state;
    begin(c);
    cluster_ask(c, c->script, "keeps = true");
    update(c, 0, 64);
    size_t one = held(c) / 64;
    c->script->limits.values[LIMIT_SCRIPT_MEMORY] = (int64_t)(c->script->memory + one * 1000);
    memory_set_limit(c->script);
    c->script->limits.values[LIMIT_HANDLER_CPU] = 60000;
    update(c, 64, 2500);
    assert_in_range(c->script->report.counters.errors, 3, 10); /* then it is in quarantine */
    const char *text = buf_text(&TAILQ_FIRST(&c->script->report.quarantined)->why);
    assert_non_null(strstr(text, "over the limit script-memory ("));
    assert_non_null(strstr(text, ") in the handler keeper; "));
    assert_non_null(strstr(text, " of it are held by objects that are no longer in a cache"));
}

static void test_lists_and_snapshots_retain_them_too(void **state)
{
    struct cluster *c = *state;
    begin(c);
    size_t before = held(c);
    cluster_ask(c, c->script, "walk = pods:lister():list() shot = k8s.snapshot(pods)");
    assert_int_equal(held(c), before);
    update(c, 0, 1);
    size_t both = held(c);
    cluster_ask(c, c->script, "shot:close()");
    size_t one = held(c);
    assert_int_equal(both, 2 * one);
    cluster_ask(c, c->script, "for _ in walk do end");
    assert_int_equal(held(c), 0);
}

static void test_the_array_of_a_list_counts_while_it_is_walked(void **state)
{
    struct cluster *c = *state;
    begin(c);
    cluster_ask(c, c->script, "walks = {} for i = 1, 1000 do walks[i] = true end");
    memory_collect(c->script->L);
    size_t before = c->script->memory;
    cluster_ask(c, c->script, "for i = 1, 1000 do walks[i] = pods:lister():list() end");
    memory_collect(c->script->L);
    assert_in_range(c->script->memory, before + 1000 * 3 * sizeof(void *), before + (1 << 20));
    cluster_ask(c, c->script, "walks = nil");
    memory_collect(c->script->L); /* calls their finalizers */
    memory_collect(c->script->L);
    assert_in_range(c->script->memory, 0, before + 1000);
}

/* Their finalizers are called in one cycle of the collector, and the next one frees them. */
static void test_views_that_are_garbage_do_not_add_up(void **state)
{
    struct cluster *c = *state;
    begin(c);
    memory_collect(c->script->L);
    size_t before = c->script->memory, most = 0;
    for (int i = 0; i < 2000; i++) {
        cluster_ask(c, c->script,
                    "local l = pods:lister() for _ = 1, 300 do local m = l:get('shop/a').metadata end");
        if (c->script->memory > most) most = c->script->memory;
    }
    assert_in_range(most, before, 4 * before);
}

static void test_many_views_leave_no_memory_behind(void **state)
{
    enum { MANY = 5000 };
    struct cluster *c = *state;
    struct buf list = {0};
    c->script = cluster_load(c, "keeper", keeper);
    cluster_resolve(c);
    for (int i = 0; i < MANY; i++) buf_printf(&list, "%sshop/p%d", i ? ";" : "", i);
    cluster_list(c, 0, buf_text(&list));
    buf_clear(&list);
    cluster_ask(c, c->script, "kept = pods:lister():list_all() last = kept[#kept]");
    assert_int_equal(c->script->retained.count, MANY);
    assert_in_range(c->script->retained.cap, MANY, 2 * MANY);
    cluster_ask(c, c->script, "kept = nil last = nil");
    memory_collect(c->script->L);
    assert_in_range(c->script->retained.count, 0, 1);
    assert_in_range(c->script->retained.cap, 1, MANY / 8);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, cluster_setup, cluster_teardown)
    const struct CMUnitTest tests[] = {
        T(test_views_that_are_garbage_do_not_add_up),
        T(test_many_views_leave_no_memory_behind),
        T(test_what_the_cache_has_too_costs_nothing),
        T(test_what_the_cache_has_left_counts_until_it_is_let_go),
        T(test_many_views_of_one_object_count_once),
        T(test_it_is_found_while_events_come),
        T(test_those_of_a_prompt_are_estimated),
        T(test_an_estimate_counts_many_views_of_some_objects_once),
        T(test_an_excess_of_retained_objects_is_reported),
        T(test_lists_and_snapshots_retain_them_too),
        T(test_the_array_of_a_list_counts_while_it_is_walked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
