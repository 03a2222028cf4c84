/* core/script/generation/handover.c: what one generation of a script held goes on in the next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "core/script/support/cluster.h"
#include "informer/shared/claim_index.h"
#include "script/generation/handover.h"

/* What every generation begins with. */
#define HEAD                                        \
    "k8s = require 'k8s' said = ''\n"               \
    "function say(x) said = said .. x .. ';' end\n" \
    "function take() local text = said said = '' return text end\n"

static struct handover done;

/* A generation that is to take over from `before`. */
static struct script *prepare(struct cluster *c, struct script *before, const char *lua)
{
    static char path[96];
    struct err err;
    snprintf(path, sizeof path, "%s/next.lua", c->folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s%s", HEAD, lua);
    fclose(file);
    const struct script_source source = {
        .path = path, .name = "unit", .generation = script_generation(before) + 1, .before = before};
    struct script *script = script_prepare(&c->host, &source, &err);
    if (!script) fail_msg("%s", err.text);
    cluster_note_claims(c, script);
    return script;
}

/* The next generation, once it has taken over. The old one is left to the caller. */
static struct script *reload(struct cluster *c, struct script *before, const char *lua)
{
    struct err err;
    struct script *script = prepare(c, before, lua);
    cluster_resolve(c);
    while (!script_build_indexes(script)) continue;
    assert_int_equal(script_lagging_claims(before, script, NULL), 0);
    if (!script_handover(before, script, &done, &err)) fail_msg("%s", err.text);
    return script;
}

static struct script *load(struct cluster *c, const char *lua)
{
    struct buf text = {0};
    buf_printf(&text, "%s%s", HEAD, lua);
    struct script *script = cluster_load(c, "first", buf_text(&text));
    buf_clear(&text);
    return script;
}

#define HANDLER(mark)                                                                                 \
    "k8s.informer('pods'):add_event_handler { OnAdd = function(o) say('" mark "+' .. o:name()) end, " \
    "OnUpdate = function(_, o) say('" mark "=' .. o:name()) end, OnDelete = function(o) say('" mark   \
    "-' .. o:name()) end }\n"

static void test_a_handler_that_did_not_change_goes_on_where_it_was(void **state)
{
    struct cluster *c = *state;
    struct script *old = load(c, HANDLER(""));
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a;shop/b");
    cluster_settle(c);
    assert_ask(c, old, "return take()", "+a;+b;");
    struct script *new = reload(c, old, HANDLER("") "-- another comment\n");
    assert_int_equal(done.kept, 1);
    assert_int_equal(done.added + done.removed, 0);
    assert_int_equal(c->source_count, 1); /* nothing was listed again */
    cluster_event(c, 0, LW_MODIFIED, "shop/a");
    cluster_event(c, 0, LW_DELETED, "shop/b");
    cluster_settle(c);
    assert_ask(c, new, "return take()", "=a;-b;");
    assert_ask(c, old, "return take()", "");
    script_free(old);
    cluster_event(c, 0, LW_ADDED, "shop/c");
    cluster_settle(c);
    assert_ask(c, new, "return take()", "+c;");
    assert_int_equal(script_counters(new).adds, 3); /* of both */
    script_free(new);
}

static void test_a_handler_that_changed_sees_the_cache_again(void **state)
{
    struct cluster *c = *state;
    struct script *old = load(c, HANDLER("") HANDLER("2"));
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a");
    cluster_settle(c);
    struct script *new = reload(c, old, HANDLER("") HANDLER("x"));
    assert_int_equal(done.kept, 1);
    assert_int_equal(done.added, 1);
    assert_int_equal(done.removed, 0);
    cluster_settle(c);
    assert_ask(c, new, "return take()", "x+a;");
    script_free(old);
    script_free(new);
}

static void test_on_reload_chooses_which_handlers_see_the_cache(void **state)
{
    struct cluster *c = *state;
    struct script *one = load(c, HANDLER("1"));
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a");
    cluster_settle(c);
    struct script *two = reload(c, one, HANDLER("2") HANDLER("3") "k8s.on_reload { replay = 'none' }\n");
    cluster_settle(c);
    assert_ask(c, two, "return take()", "");
    cluster_event(c, 0, LW_MODIFIED, "shop/a");
    cluster_settle(c);
    assert_ask(c, two, "return take()", "2=a;3=a;");
    struct script *three = reload(c, two, HANDLER("2") HANDLER("3") "k8s.on_reload { replay = 'all' }\n");
    cluster_settle(c);
    assert_ask(c, three, "return take()", "2+a;3+a;");
    script_free(one);
    script_free(two);
    script_free(three);
}

static void test_a_handler_that_is_removed_receives_nothing(void **state)
{
    struct cluster *c = *state;
    struct script *old =
        load(c, "k8s.informer('pods'):on_add(function(o) say('b' .. o:name()) k8s.sleep(5) say 'e' end)");
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a;shop/b;shop/c");
    cluster_settle(c);
    assert_ask(c, old, "return take()", "ba;");
    struct script *new = reload(c, old, "k8s.informer('pods')\n");
    assert_int_equal(done.removed, 1);
    assert_int_equal(done.dropped_events, 2);
    assert_int_equal(script_waiting_calls(old), 1);
    virtual_clock_advance(&c->clock, 5000);
    cluster_settle(c);
    assert_ask(c, old, "return take()", "e;");
    assert_int_equal(script_waiting_calls(old), 0);
    script_free(old);
    script_free(new);
}

static void test_a_queue_goes_on_with_its_keys_and_what_is_under_way(void **state)
{
    struct cluster *c = *state;
    static const char worker[] = "q = k8s.queue { name = 'q', workers = 2 }\n"
                                 "q:run(function(key) say('b' .. key) k8s.sleep(1) say('e' .. key) end)\n";
    struct script *old = load(c, worker);
    assert_ask(c, old, "q:add 'a' q:add 'b' q:add 'c' q:add_after('d', 5) q:add_rate_limited 'e'", "nil");
    virtual_clock_advance(&c->clock, 0);
    assert_ask(c, old, "return take()", "ba;bb;");
    struct script *new = reload(c, old, worker);
    assert_int_equal(done.dropped_keys, 0);
    assert_ask(c, old, "q:add 'late' return q:len()", "2"); /* what the old one adds is the new one's */
    virtual_clock_advance(&c->clock, 500);
    assert_ask(c, new, "return take()", ""); /* two are under way */
    virtual_clock_advance(&c->clock, 500);
    assert_ask(c, old, "return take()", "ea;eb;");
    assert_ask(c, new, "return take()", "bc;blate;");
    script_free(old);
    virtual_clock_advance(&c->clock, 1000);
    assert_ask(c, new, "return take() .. q:num_requeues 'e'", "ec;elate;be;1");
    virtual_clock_advance(&c->clock, 3500);
    assert_ask(c, new, "return take()", "ee;bd;");
    struct script *last = reload(c, new, "");
    assert_int_equal(done.dropped_keys, 0);
    script_free(new);
    script_free(last);
}

static void test_a_waiter_for_a_key_is_notified_that_there_are_none(void **state)
{
    struct cluster *c = *state;
    static const char made[] = "q = k8s.queue { name = 'q' }\n";
    struct script *old = load(c, made);
    assert_ask(c, old,
               "k8s.after(0, function() local key, down = q:get() say(tostring(key) .. tostring(down)) end)",
               "nil");
    virtual_clock_advance(&c->clock, 10);
    struct script *new = reload(c, old, made);
    assert_ask(c, new, "q:add 'x'", "nil");
    virtual_clock_advance(&c->clock, 10);
    assert_ask(c, old, "return take()", "niltrue;");
    assert_ask(c, new, "return q:len()", "1");
    struct script *last = reload(c, new, "k8s.queue { name = 'other' }");
    assert_int_equal(done.dropped_keys, 1);
    script_free(old);
    script_free(new);
    script_free(last);
}

static void test_a_queue_that_was_dropped_is_kept_for_one_generation(void **state)
{
    struct cluster *c = *state;
    static const char made[] = "q = k8s.queue { name = 'q', qps = 0 }\n";
    struct script *one = load(c, made);
    assert_ask(c, one, "q:add 'a' q:add_after('b', 5) q:add_rate_limited 'c' return q:len()", "1");
    assert_ask(c, one, "for i = 1, 1000 do q:add_after('x' .. i, 3600) end", "nil");
    size_t bytes = script_memory(one);
    struct script *two = reload(c, one, "");
    assert_int_equal(done.dropped_keys, 1003);
    assert_in_range(script_memory(two), 100000, bytes + 50000); /* with the keys that it keeps */
    assert_in_range(script_memory(one), 1, bytes - 100000);
    /* Calls of the old one that still run add nothing, as to a queue that is shut down. */
    assert_ask(c, one, "for i = 1, 1000 do q:add('n' .. i) end q:add_after('m', 1) return q:len()", "1");
    script_free(one);
    virtual_clock_advance(&c->clock, 6000);
    struct script *three = reload(c, two, made);
    assert_int_equal(done.dropped_keys, 0);
    assert_ask(c, three, "return q:len() .. q:num_requeues 'c'", "31");
    assert_ask(c, three, "q:run(function(key) say(key) end)", "nil");
    virtual_clock_advance(&c->clock, 10);
    assert_ask(c, three, "return take()", "a;c;b;");
    assert_ask(c, three, "q:add 'd'", "nil");
    script_free(two);
    struct script *four = reload(c, three, ""), *five = reload(c, four, ""), *six = reload(c, five, made);
    assert_ask(c, six, "return q:len()", "0");
    script_free(three);
    script_free(four);
    script_free(five);
    script_free(six);
}

static void test_timers_keep_their_times(void **state)
{
    struct cluster *c = *state;
    struct script *old =
        load(c, "k8s.every(10, function() say 'x' end) k8s.after(29, function() say 'late' end)");
    virtual_clock_advance(&c->clock, 14000);
    assert_ask(c, old, "k8s.after(1, print) k8s.every(60, print) return take()", "x;");
    struct script *new = reload(c, old,
                                "k8s.every(10, function() say 'y' end) k8s.every(7, function() say 'new' end)"
                                "k8s.after(29, function() say 'late' end)");
    assert_int_equal(done.cancelled_timers, 2);
    virtual_clock_advance(&c->clock, 6000); /* at 20 s */
    assert_ask(c, new, "return take()", "y;");
    virtual_clock_advance(&c->clock, 1000);
    assert_ask(c, new, "return take()", "new;");
    virtual_clock_advance(&c->clock, 9000);
    assert_ask(c, new, "return take()", "new;late;y;");
    assert_ask(c, old, "return take()", "");
    script_free(old);
    script_free(new);
}

static void test_a_handler_that_was_in_quarantine_is_sent_the_cache(void **state)
{
    struct cluster *c = *state;
    static const char lua[] =
        "k8s.informer('pods'):on_add(function(o) say(o:name()) while o:name():find 'bad' do end end)";
    struct script *old = load(c, lua);
    old->limits.values[LIMIT_HANDLER_CPU] = 5;
    cluster_resolve(c);
    cluster_list(c, 0, "shop/bad-1;shop/bad-2;shop/bad-3");
    for (int i = 0; i < 3; i++) virtual_clock_advance(&c->clock, 1); /* a turn for each further call */
    cluster_event(c, 0, LW_DELETED, "shop/bad-1");
    cluster_event(c, 0, LW_DELETED, "shop/bad-2");
    cluster_event(c, 0, LW_DELETED, "shop/bad-3");
    cluster_event(c, 0, LW_ADDED, "shop/missed");
    assert_ask(c, old, "return take()", "bad-1;bad-2;bad-3;");
    struct script *new = reload(c, old, lua);
    cluster_settle(c);
    assert_ask(c, new, "return take()", "missed;");
    assert_int_equal(done.kept, 0);
    script_free(old);
    script_free(new);
}

static void test_state_that_cannot_go_over_leaves_the_old_one_running(void **state)
{
    struct cluster *c = *state;
    struct err err;
    struct script *old = load(c, "kept = k8s.state('n', { version = 1, init = { x = 1 } })" HANDLER(""));
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a");
    cluster_settle(c);
    struct script *new = prepare(
        c, old, "kept = k8s.state('n', { version = 2, migrate = function() error 'no' end })" HANDLER("2"));
    cluster_resolve(c);
    assert_false(script_handover(old, new, &done, &err));
    assert_non_null(strstr(err.text, "next.lua:4: no"));
    script_free(new);
    cluster_event(c, 0, LW_ADDED, "shop/b");
    cluster_settle(c);
    assert_ask(c, old, "return take()", "+a;+b;");
    new = reload(c, old, "kept = k8s.state('n', { version = 1, init = { x = 5 } })");
    assert_ask(c, new, "return kept.x", "1");
    script_free(old);
    script_free(new);
}

static void test_indexes_are_built_before(void **state)
{
    struct cluster *c = *state;
    static const char indexed[] = "pods = k8s.informer('pods')\n"
                                  "pods:add_index('app', 'metadata.labels.app')\n"
                                  "pods:add_index('first', function(o, emit) asked = (asked or 0) + 1 "
                                  "emit(o:name():sub(1, 1)) end)\n"
                                  "function under(x) return #pods:lister():by_index('first', x) .. '/' .. "
                                  "#pods:lister():by_index('app', 'web') end\n";
    struct script *old = load(c, indexed);
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a-1 app=web;shop/a-2 app=web;shop/b-1 app=db");
    cluster_settle(c);
    struct script *new = prepare(c, old, indexed);
    cluster_resolve(c);
    assert_false(claim_build_indexes(script_claim(new, 0), 1));
    cluster_event(c, 0, LW_ADDED, "shop/a-3 app=web");
    cluster_event(c, 0, LW_DELETED, "shop/a-1 app=web"); /* the one that they know */
    cluster_settle(c);
    assert_ask(c, old, "return under 'a'", "2/2");
    while (!script_build_indexes(new)) continue;
    struct err err;
    assert_true(script_handover(old, new, &done, &err));
    assert_ask(c, new, "return under 'a' .. ' ' .. asked", "2/2 4");
    script_free(old);
    cluster_event(c, 0, LW_ADDED, "shop/a-4 app=web");
    cluster_settle(c);
    assert_ask(c, new, "return under 'a'", "3/3");
    script_free(new);
}

static void test_a_new_informer_is_waited_for(void **state)
{
    struct cluster *c = *state;
    struct informer_claim *claim = NULL;
    struct err err;
    struct script *old = load(c, HANDLER(""));
    cluster_resolve(c);
    struct script *new =
        prepare(c, old, HANDLER("") "k8s.informer('nodes'):on_add(function(o) say(o:name()) end)");
    cluster_resolve(c);
    assert_int_equal(script_lagging_claims(old, new, &claim),
                     1); /* pods have not synced either, but they run */
    assert_string_equal(claim_spec(claim)->kind, "nodes");
    cluster_list(c, 1, "n1");
    cluster_settle(c);
    assert_int_equal(script_lagging_claims(old, new, &claim), 0);
    assert_true(script_handover(old, new, &done, &err));
    cluster_settle(c);
    assert_ask(c, new, "return take()", ""); /* its handlers wait for both */
    cluster_list(c, 0, "shop/a");
    cluster_settle(c);
    assert_ask(c, new, "return take()", "n1;+a;");
    script_free(old);
    script_free(new);
}

static void test_one_that_winds_up_ends_what_it_began(void **state)
{
    struct cluster *c = *state;
    struct script *script =
        load(c, HANDLER("") "q = k8s.queue { name = 'q' } k8s.every(1, function() say 'x' end)\n");
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a");
    cluster_settle(c);
    assert_ask(c, script, "q:add 'a' k8s.after(0, function() k8s.sleep(2) say 'end' end) return take()",
               "+a;");
    virtual_clock_advance(&c->clock, 0);
    script_drain(script, &done);
    assert_int_equal(done.dropped_keys, 1);
    assert_int_equal(script_waiting_calls(script), 1);
    cluster_event(c, 0, LW_ADDED, "shop/b");
    cluster_settle(c);
    virtual_clock_advance(&c->clock, 2000);
    assert_ask(c, script, "return take()", "end;");
    script_free(script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, cluster_setup_by_hand, cluster_teardown)
        T(test_a_handler_that_did_not_change_goes_on_where_it_was),
        T(test_a_handler_that_changed_sees_the_cache_again),
        T(test_on_reload_chooses_which_handlers_see_the_cache),
        T(test_a_handler_that_is_removed_receives_nothing),
        T(test_a_queue_goes_on_with_its_keys_and_what_is_under_way),
        T(test_a_waiter_for_a_key_is_notified_that_there_are_none),
        T(test_a_queue_that_was_dropped_is_kept_for_one_generation),
        T(test_timers_keep_their_times),
        T(test_a_handler_that_was_in_quarantine_is_sent_the_cache),
        T(test_state_that_cannot_go_over_leaves_the_old_one_running),
        T(test_indexes_are_built_before),
        T(test_a_new_informer_is_waited_for),
        T(test_one_that_winds_up_ends_what_it_began),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
