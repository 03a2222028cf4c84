/* core/script/caches/transform.c: transforms whose script has used up its time go on after its next turn. The
 * spec plays the CPU watch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "core/script/support/cluster.h"
#include "script/generation/handover.h"

static const char transforming[] =
    "k8s = require 'k8s' calls = 0\n"
    "pods = k8s.informer('pods', { transform = function(o) calls = calls + 1 return o end })\n"
    "pods:on_add(function(o) told = (told or '') .. o:name() end)\n"
    "pods:on_update(function(_, o) told = told .. o:name() end)\n";

static void use_up(struct script *script)
{
    script->turn.ticks = 100;
}

static void turn(struct cluster *c)
{
    clock_fire(&c->clock.clock);
    cluster_settle(c);
}

static void test_objects_wait_for_the_turn_of_their_script(void **state)
{
    struct cluster *c = *state;
    struct script *script = cluster_load(c, "transforming", transforming);
    cluster_resolve(c);
    use_up(script);
    cluster_list(c, 0, "shop/a;shop/b");
    assert_ask(c, script, "return calls", "0");
    turn(c);
    assert_ask(c, script, "return calls .. told .. pods:lister():count()", "2ab2");
    use_up(script);
    cluster_event(c, 0, LW_MODIFIED, "shop/b x=1");
    cluster_event(c, 0, LW_MODIFIED, "shop/a x=1");
    assert_ask(c, script, "return calls .. told", "2ab");
    turn(c);
    assert_ask(c, script, "return calls .. told", "4abba");
    cluster_event(c, 0, LW_MODIFIED, "shop/b x=2"); /* straight again */
    assert_ask(c, script, "return calls .. told", "5abbab");
    c->script = script;
}

static void test_a_script_may_end_while_objects_wait(void **state)
{
    struct cluster *c = *state;
    struct script *script = cluster_load(c, "transforming", transforming);
    cluster_resolve(c);
    use_up(script);
    cluster_list(c, 0, "shop/a;shop/b");
    script_free(script);
    turn(c);
    assert_true(c->sources[0].freed);
}

/* It is to take over from `before`. */
static struct script *prepare(struct cluster *c, struct script *before)
{
    char path[128];
    struct err err;
    snprintf(path, sizeof path, "%s/transforming.lua", c->folder);
    const struct script_source source = {
        .path = path, .name = "transforming", .generation = 2, .before = before};
    struct script *script = script_prepare(&c->host, &source, &err);
    if (!script) fail_msg("%s", err.text);
    cluster_note_claims(c, script);
    cluster_resolve(c);
    return script;
}

/* Another one each time if it counted its calls. */
static const char comparable[] = "k8s = require 'k8s'\n"
                                 "pods = k8s.informer('pods', { transform = function(o) return o end })\n"
                                 "pods:on_add(function(o) told = (told or '') .. o:name() end)\n";

/* They share the informer, which waits for the generation that goes. */
static void test_objects_that_wait_come_after_a_reload_too(void **state)
{
    struct cluster *c = *state;
    struct handover done;
    struct err err;
    struct script *old = cluster_load(c, "transforming", comparable);
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a");
    struct script *next = prepare(c, old);
    assert_true(claims_share(script_claim(old, 0), script_claim(next, 0)));
    use_up(old);
    cluster_event(c, 0, LW_ADDED, "shop/b");
    assert_ask(c, old, "return told", "a");
    if (!script_handover(old, next, &done, &err)) fail_msg("%s", err.text);
    script_free(old);
    turn(c);
    assert_ask(c, next, "return told", "b");
    c->script = next;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, cluster_setup_by_hand, cluster_teardown)
        T(test_objects_wait_for_the_turn_of_their_script),
        T(test_a_script_may_end_while_objects_wait),
        T(test_objects_that_wait_come_after_a_reload_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
