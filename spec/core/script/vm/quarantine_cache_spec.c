/* core/script/caches/transform.c, core/script/caches/index_function.c: a transform or an index function that
 * goes over a limit three times running is not called any more, and what the cache lacks by that comes when
 * it is lifted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "base/series/series.h"
#include "core/script/support/cluster.h"
#include "core/script/support/quarantined.h"
#include "informer/shared/claim_status.h"
#include "script/caches/index_function.h"
#include "script/generation/handover.h"

static void begin(struct cluster *c, const char *lua, const char *objects)
{
    c->script = cluster_load(c, "rule", lua);
    c->script->limits.values[LIMIT_FILTER_CPU] = 2;
    cluster_resolve(c);
    cluster_list(c, 0, objects);
}

static uint64_t failed_by_transform(const struct script *script)
{
    struct claim_status status = {0};
    claim_get_status(script_claim(script, 0), &status);
    return status.transform.failed;
}

static struct script *reload(struct cluster *c, struct script *old, const char *lua)
{
    char path[128];
    struct err err;
    snprintf(path, sizeof path, "%s/rule.lua", c->folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(lua, file);
    fclose(file);
    const struct script_source source = {.path = path, .name = "rule", .generation = 2, .before = old};
    struct script *script = script_prepare(&c->host, &source, &err);
    if (!script) fail_msg("%s", err.text);
    cluster_resolve(c);
    return script;
}

static void take_over(struct script *from, struct script *to)
{
    struct handover done;
    struct err err;
    while (!script_build_indexes(to)) continue;
    assert_int_equal(script_lagging_claims(from, to, NULL), 0);
    if (!script_handover(from, to, &done, &err)) fail_msg("%s", err.text);
}

/* --- transforms */

static const char transforming[] =
    "k8s = require 'k8s' calls, said = 0, {}\n"
    "function take() local text = table.concat(said, ' ') said = {} return text end\n"
    "pods = k8s.informer('pods', { transform = function(pod)\n"
    "  calls = calls + 1\n"
    "  while (pod.metadata.labels or {}).x == 'spin' and not mended do end\n"
    "  if (pod.metadata.labels or {}).x == 'fail' then error 'failed' end\n"
    "  return pod\n"
    "end })\n"
    "pods:on_add(function(o) said[#said + 1] = '+' .. o:name() end)\n"
    "pods:on_update(function(_, o) said[#said + 1] = o:name() .. '=' .. (o:label 'x' or '') end)\n"
    "pods:on_delete(function(o) said[#said + 1] = '-' .. o:name() end)\n";

static void test_a_transform_is_not_called_after_three_calls_running_over_a_limit(void **state)
{
    struct cluster *c = *state;
    begin(c, transforming, "shop/a");
    cluster_event(c, 0, LW_ADDED, "shop/b x=spin");
    cluster_event(c, 0, LW_ADDED, "shop/c x=spin");
    cluster_event(c, 0, LW_MODIFIED, "shop/a x=good"); /* the row ends */
    cluster_event(c, 0, LW_ADDED, "shop/b x=spin");
    cluster_event(c, 0, LW_MODIFIED, "shop/c x=fail"); /* within its limits: so it does */
    cluster_event(c, 0, LW_ADDED, "shop/b x=spin");
    cluster_event(c, 0, LW_ADDED, "shop/c x=spin");
    assert_int_equal(shown_of(c->script).count, 0);
    cluster_event(c, 0, LW_ADDED, "shop/d x=spin");
    struct shown shown = shown_of(c->script);
    assert_int_equal(shown.count, 1);
    assert_string_equal(shown.id, "transform/pods");
    assert_non_null(
        strstr(shown.why, "rule.lua:5: over the limit filter-cpu (2ms) in the transform of pods"));
    assert_series("kubelua_handler_quarantined{script=\"rule\",handler=\"transform/pods\"} 1\n");
    assert_ask(c, c->script, "return calls", "9");
}

/* What the cache has of them stays, and one that is deleted goes. */
static void test_all_objects_of_one_that_is_not_called_fail(void **state)
{
    struct cluster *c = *state;
    begin(c, transforming, "shop/a;shop/b;shop/c x=spin;shop/d x=spin;shop/e x=spin;shop/f");
    assert_ask(c, c->script, "return take() .. ' ' .. calls", "+a +b 5");
    assert_int_equal(failed_by_transform(c->script), 4);
    cluster_event(c, 0, LW_ADDED, "shop/g");
    cluster_event(c, 0, LW_MODIFIED, "shop/a x=good");
    cluster_event(c, 0, LW_DELETED, "shop/b");
    assert_ask(c, c->script, "return take() .. ' ' .. calls", "-b 5");
    assert_int_equal(failed_by_transform(c->script), 7);
    assert_int_equal(shown_of(c->script).skipped, 4);
    assert_series("kubelua_handler_skipped_total{script=\"rule\",handler=\"transform/pods\"} 4\n");
}

static void test_once_lifted_what_failed_is_listed(void **state)
{
    struct cluster *c = *state;
    begin(c, transforming, "shop/a;shop/b;shop/c x=spin;shop/d x=spin;shop/e x=spin;shop/f");
    cluster_event(c, 0, LW_MODIFIED, "shop/a x=good");
    cluster_ask(c, c->script, "take() mended = true");
    assert_int_equal(script_lift(c->script, "transform/nodes"), 0);
    assert_int_equal(script_lift(c->script, "transform/pods"), 1);
    assert_int_equal(script_lift(c->script, "transform/pods"), 0);
    cluster_settle(c);
    assert_ask(c, c->script, "return pods:lister():count()", "2"); /* what is known stays meanwhile */
    assert_series("kubelua_handler_quarantined{script=\"rule\",handler=\"transform/pods\"} 0\n");
    assert_int_equal(c->source_count, 2);
    assert_true(c->sources[0].freed);
    cluster_list(c, 1, "shop/a x=good;shop/c x=spin;shop/f");
    assert_ask(c, c->script, "return take()", "-b a=good +c +f");
    cluster_event(c, 1, LW_ADDED, "shop/g");
    assert_ask(c, c->script, "return take()", "+g");
}

static void test_one_that_is_no_better_once_lifted_is_quarantined_again(void **state)
{
    struct cluster *c = *state;
    static const char objects[] = "shop/a x=spin;shop/b x=spin;shop/c x=spin;shop/d x=spin";
    begin(c, transforming, objects);
    for (size_t i = 1; i < 4; i++) {
        script_lift(c->script, NULL);
        script_lift(c->script, NULL);
        cluster_settle(c);
        assert_int_equal(shown_of(c->script).count, 0);
        cluster_list(c, i, objects);
        assert_int_equal(shown_of(c->script).count, 1);
    }
    assert_ask(c, c->script, "return calls", "12");
}

static void test_every_namespace_of_a_transform_is_listed_once_it_is_lifted(void **state)
{
    struct cluster *c = *state;
    begin(c,
          "k8s = require 'k8s' pods = k8s.informer('pods', { namespaces = { 'a', 'b' }, transform = "
          "function(pod) while not mended do end return pod end })",
          "a/1;a/2");
    cluster_list(c, 1, "b/1;b/2");
    assert_int_equal(shown_of(c->script).skipped, 1);
    cluster_ask(c, c->script, "mended = true");
    script_lift(c->script, NULL);
    cluster_settle(c);
    assert_int_equal(c->source_count, 4);
    cluster_list(c, 2, "a/1;a/2");
    cluster_list(c, 3, "b/1;b/2");
    assert_ask(c, c->script, "return pods:lister():count()", "4");
}

static void test_a_reload_begins_again_with_the_transform(void **state)
{
    struct cluster *c = *state;
    begin(c, transforming, "shop/a;shop/b x=spin;shop/c x=spin;shop/d x=spin;shop/e");
    struct script *next = reload(c, c->script, transforming);
    cluster_ask(c, next, "mended = true");
    assert_int_equal(c->source_count, 2); /* the same function: but what failed is to be made anew */
    cluster_list(c, 1, "shop/a;shop/b x=spin;shop/c x=spin;shop/d x=spin;shop/e");
    take_over(c->script, next);
    script_free(c->script);
    c->script = next;
    cluster_settle(c);
    assert_int_equal(shown_of(next).count, 0);
    assert_ask(c, next, "return pods:lister():count()", "5");
}

/* It is called before it takes over; the one before goes later, and both have the same id. */
static void test_a_new_generation_may_be_quarantined_too(void **state)
{
    struct cluster *c = *state;
    static const char objects[] = "shop/a;shop/b x=spin;shop/c x=spin;shop/d x=spin";
    begin(c, transforming, objects);
    struct script *next = reload(c, c->script, transforming);
    next->limits.values[LIMIT_FILTER_CPU] = 2;
    cluster_list(c, 1, objects);
    take_over(c->script, next);
    script_free(c->script);
    c->script = next;
    assert_string_equal(shown_of(next).id, "transform/pods");
    assert_series("kubelua_handler_quarantined{script=\"rule\",handler=\"transform/pods\"} 1\n");
    script_lift(next, NULL);
    assert_series("kubelua_handler_quarantined{script=\"rule\",handler=\"transform/pods\"} 0\n");
}

/* --- index functions */

static const char indexing[] =
    "k8s = require 'k8s' calls = 0\n"
    "pods = k8s.informer('pods')\n"
    "pods:add_index('first', function(o, emit)\n"
    "  calls = calls + 1\n"
    "  while o:label 'x' == 'spin' and not mended do end\n"
    "  if o:label 'x' == 'fail' then error 'failed' end\n"
    "  emit(o:name():sub(1, 1))\n"
    "end)\n"
    "pods:add_index('x', 'metadata.labels.x')\n"
    "function under(v) return table.concat(pods:lister():index_keys('first', v), ' ') end\n";

static void test_an_index_function_is_not_called_after_three_calls_running_over_a_limit(void **state)
{
    struct cluster *c = *state;
    begin(c, indexing, "shop/a1;shop/b1 x=spin;shop/b2 x=spin;shop/a2 x=fail;shop/b3 x=spin;shop/b4 x=spin");
    assert_int_equal(shown_of(c->script).count, 0);
    cluster_event(c, 0, LW_MODIFIED, "shop/b1 x=spin n=1");
    struct shown shown = shown_of(c->script);
    assert_int_equal(shown.count, 1);
    assert_string_equal(shown.id, "index/first");
    assert_non_null(
        strstr(shown.why, "rule.lua:5: over the limit filter-cpu (2ms) in the index function of first"));
    assert_series("kubelua_handler_quarantined{script=\"rule\",handler=\"index/first\"} 1\n");
    cluster_event(c, 0, LW_ADDED, "shop/a3");
    cluster_event(c, 0, LW_MODIFIED, "shop/a1 n=1"); /* of what it is now nothing is known */
    assert_ask(c, c->script, "return calls .. under 'a'", "7");
    assert_ask(c, c->script, "return #pods:lister():by_index('x', 'spin')", "4");
    assert_int_equal(shown_of(c->script).skipped, 2);
    assert_series("kubelua_index_errors_total{script=\"rule\",index=\"first\"} 8\n");
}

/* Objects go and come while it is built; the store renumbers what it has. */
static void test_once_lifted_an_index_is_built_again(void **state)
{
    struct cluster *c = *state;
    begin(c, indexing, "shop/a1;shop/b1 x=spin;shop/b2 x=spin;shop/b3 x=spin;shop/a2");
    cluster_event(c, 0, LW_ADDED, "shop/a3");
    cluster_ask(c, c->script, "mended = true calls = 0");
    assert_ask(c, c->script, "return under 'a'", "shop/a1");
    assert_int_equal(script_lift(c->script, "index/first"), 1);
    cluster_event(c, 0, LW_DELETED, "shop/a1");
    cluster_event(c, 0, LW_ADDED, "shop/a4");
    assert_ask(c, c->script, "return under 'a' .. ' ' .. under 'b'",
               "shop/a2 shop/a3 shop/a4 shop/b1 shop/b2 shop/b3");
    assert_int_equal(shown_of(c->script).count, 0);
    assert_true(TAILQ_EMPTY(&c->script->own.index_functions->rebuilding));
}

static void test_an_index_that_is_no_better_once_lifted_is_quarantined_again(void **state)
{
    struct cluster *c = *state;
    begin(c, indexing, "shop/b1 x=spin;shop/b2 x=spin;shop/b3 x=spin;shop/b4 x=spin");
    for (int i = 0; i < 3; i++) {
        script_lift(c->script, NULL);
        script_lift(c->script, NULL);
        assert_int_equal(shown_of(c->script).count, 0);
        cluster_settle(c);
        assert_int_equal(shown_of(c->script).count, 1);
    }
    assert_ask(c, c->script, "return calls", "12");
    script_lift(c->script, NULL); /* and the script may end while it waits for its turn */
}

/* Once the handler has used up its own, all that is asked in it fails: here the rest of a snapshot. */
static void test_an_excess_of_the_caller_does_not_count(void **state)
{
    struct cluster *c = *state;
    struct buf objects = {0};
    for (int i = 0; i < 100; i++) buf_printf(&objects, "%sshop/p%d", i ? ";" : "", i);
    begin(c,
          "k8s = require 'k8s' pods = k8s.informer 'pods'\n"
          "pods:add_index('i', function(o, emit) for i = 1, busy or 0 do o = i end emit(o) end)\n"
          "function ask() k8s.snapshot(pods):lister(pods):by_index('i', 'x') end",
          "");
    c->script->limits.values[LIMIT_FILTER_CPU] = 1000;
    c->script->limits.values[LIMIT_HANDLER_CPU] = 10;
    cluster_ask(c, c->script, "busy = 1");
    cluster_list(c, 0, buf_text(&objects));
    for (int i = 0; i < 4; i++) {
        const char *text = cluster_ask(c, c->script, "busy = 300000 ask()");
        if (!strstr(text, "over the limit handler-cpu (10ms)")) fail_msg("%s", text);
        assert_int_equal(shown_of(c->script).count, 0);
    }
    c->script->limits.values[LIMIT_FILTER_CPU] = 2;
    c->script->limits.values[LIMIT_HANDLER_CPU] = 1000;
    cluster_ask(c, c->script, "busy = 1e9 ask()");
    assert_string_equal(shown_of(c->script).id, "index/i");
    assert_true(shown_of(c->script).skipped >= 90);
    buf_clear(&objects);
}

static void test_a_reload_begins_again_with_the_index(void **state)
{
    struct cluster *c = *state;
    begin(c, indexing, "shop/b1 x=spin;shop/b2 x=spin;shop/b3 x=spin;shop/b4");
    assert_int_equal(shown_of(c->script).count, 1);
    struct script *next = reload(c, c->script, indexing);
    cluster_ask(c, next, "mended = true");
    take_over(c->script, next);
    script_free(c->script);
    c->script = next;
    assert_ask(c, next, "return under 'b'", "shop/b1 shop/b2 shop/b3 shop/b4");
    assert_int_equal(shown_of(next).count, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, cluster_setup, cluster_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_transform_is_not_called_after_three_calls_running_over_a_limit),
        TEST(test_all_objects_of_one_that_is_not_called_fail),
        TEST(test_once_lifted_what_failed_is_listed),
        TEST(test_one_that_is_no_better_once_lifted_is_quarantined_again),
        TEST(test_every_namespace_of_a_transform_is_listed_once_it_is_lifted),
        TEST(test_a_reload_begins_again_with_the_transform),
        TEST(test_a_new_generation_may_be_quarantined_too),
        TEST(test_an_index_function_is_not_called_after_three_calls_running_over_a_limit),
        TEST(test_once_lifted_an_index_is_built_again),
        TEST(test_an_index_that_is_no_better_once_lifted_is_quarantined_again),
        TEST(test_an_excess_of_the_caller_does_not_count),
        TEST(test_a_reload_begins_again_with_the_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
