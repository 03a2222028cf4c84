/* core/script/prompt/repl.c and bind_repl*.c: lines of a prompt, on caches of its own and on those of
 * scripts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <string.h>
#include <sys/time.h>

#include "base/mem.h"
#include "core/script/support/cluster.h"
#include "kube/kinds/kinds.h"
#include "script/prompt/repl_internal.h"

static struct cluster *c;
static struct kinds *kinds;
static struct repl *repl;
static struct buf printed, answer;
static enum repl_end end;
static int ends, claims, interrupt_at; /* the number of the line that ^C comes with; 0: none */
static int lines;

static void on_claimed(void *ctx)
{
    claims++;
    cluster_resolve(c);
}

static void on_print(void *ctx, struct str line)
{
    buf_printf(&printed, "%.*s;", STR_ARG(line));
    if (++lines == interrupt_at) repl_interrupt(repl);
}

static void on_end(void *ctx, enum repl_end how, struct str text)
{
    ends++;
    end = how;
    answer.len = 0;
    buf_str(&answer, text);
}

static void on_ask_kinds(void *ctx) {}

static void open_prompt(enum repl_caches caches)
{
    struct err err;
    const struct repl_ops ops = {
        .claimed = caches == REPL_OWN_CACHES ? on_claimed : NULL, .printed = on_print, .ended = on_end};
    repl = repl_new(&c->host, caches, &ops, &err);
    if (!repl) fail_msg("%s", err.text);
    c->told = repl->script;
}

static int setup(void **state)
{
    cluster_setup(state);
    c = *state;
    kinds = kinds_new(loop_clock(c->loop), on_ask_kinds, NULL);
    kinds_set(kinds, c->catalogue);
    c->parts.kinds = kinds;
    ends = claims = lines = interrupt_at = 0;
    return 0;
}

static void close_prompt(void)
{
    c->told = NULL;
    repl_free(repl);
    repl = NULL;
}

static int teardown(void **state)
{
    close_prompt();
    buf_clear(&printed);
    buf_clear(&answer);
    script_free(c->script);
    c->script = NULL;
    kinds_free(kinds);
    return cluster_teardown(state);
}

static void begin(const char *text)
{
    printed.len = 0;
    repl_eval(repl, str_of(text), &(struct repl_style){0});
}

static void assert_gives(const char *text, enum repl_end how, const char *expected)
{
    int before = ends;
    begin(text);
    assert_false(repl_is_busy(repl));
    assert_int_equal(ends, before + 1);
    assert_string_equal(buf_text(&answer), expected);
    assert_int_equal(end, how);
}

static void assert_completes(const char *text, size_t at, const char *expected)
{
    struct buf names = {0};
    size_t start;
    repl_complete(repl, str_of(text), &start, &names);
    for (size_t i = 0; i < names.len; i++)
        if (!names.data[i]) names.data[i] = ' ';
    assert_string_equal(buf_text(&names), expected);
    assert_int_equal(start, at);
    buf_clear(&names);
}

/* --- lines */

static void test_a_line_has_its_values_or_an_error(void **state)
{
    open_prompt(REPL_OWN_CACHES);
    assert_gives("1 + 1, nil", REPL_DONE, "2\nnil");
    assert_gives("x = 3 print('a', 1) print(x)", REPL_DONE, "");
    assert_string_equal(buf_text(&printed), "a\t1;3;");
    assert_gives("for i = 1, 2 do", REPL_INCOMPLETE, "repl:1: 'end' expected near '<eof>'");
    assert_gives("1 +* 2", REPL_FAILED, "repl:1: unexpected symbol near '*'");
    assert_gives("x", REPL_DONE, "3");
    assert_gives("nothing.there", REPL_FAILED, "repl:1: attempt to index global 'nothing' (a nil value)");
    assert_gives("nil, { message = 'm', reason = 'R' }", REPL_DONE, "nil, R: m");
    assert_gives("-- nothing", REPL_DONE, "");
    assert_gives("{ 'True', 'no', 'nothing', true, '1', 'a b', 'a: b' }", REPL_DONE,
                 "- \"True\"\n- \"no\"\n- nothing\n- true\n- \"1\"\n- a b\n- \"a: b\"");
}

static void test_a_name_that_is_no_kind_is_reported_with_the_nearest(void **state)
{
    open_prompt(REPL_OWN_CACHES);
    assert_gives("podz", REPL_FAILED,
                 "repl:1: not a global or kind: the server doesn't have a resource type \"podz\", did you "
                 "mean \"pods\"?");
    assert_gives(" things ", REPL_FAILED,
                 "repl:1: not a global or kind: the server doesn't have a resource type \"things\"");
    assert_gives("podz:count()", REPL_FAILED,
                 "repl:1: attempt to index global 'podz' (a nil value), did you mean \"pods\"?");
    assert_gives("podz 'app=web'", REPL_FAILED,
                 "repl:1: attempt to call global 'podz' (a nil value), did you mean \"pods\"?");
    assert_gives("error \"global 'podz' (a nil value\"", REPL_FAILED, "repl:1: global 'podz' (a nil value");
    assert_gives("nil", REPL_DONE, "nil");
    assert_gives("podz == nil, (podz)", REPL_DONE, "true\nnil");
    assert_gives("podz = podz or {} podz.a = 1 print(podz.a)", REPL_DONE, "");
    assert_gives("x = nil", REPL_DONE, "");
    assert_int_equal(claims, 0);
}

static void test_nothing_of_it_writes(void **state)
{
    open_prompt(REPL_OWN_CACHES);
    assert_gives("k8s.patch, k8s.delete, k8s.event, io, os.execute, debug", REPL_DONE,
                 "nil\nnil\nnil\nnil\nnil\nnil");
    assert_gives("k8s.get = 1", REPL_FAILED, "repl:1: k8s is read-only: get cannot be set");
}

static void test_whom_the_operator_trusts_is_no_prompt(void **state)
{
    static const char *const trusted[] = {"repl"};
    struct limits limits = *c->host.limits;
    limits.values[LIMIT_HANDLER_CPU] = 20;
    c->host.limits = &limits;
    c->host.trusted = trusted;
    c->host.trusted_count = 1;
    open_prompt(REPL_OWN_CACHES);
    assert_gives("while true do pcall(function() while true do end end) end", REPL_FAILED,
                 "repl:1: over the limit handler-cpu (20ms) in the prompt");
    assert_gives("2", REPL_DONE, "2");
    close_prompt();
}

/* --- ^C */

static void test_an_interrupt_ends_what_computes_and_nothing_else(void **state)
{
    open_prompt(REPL_OWN_CACHES);
    repl_interrupt(repl); /* nobody runs */
    assert_gives("1", REPL_DONE, "1");
    interrupt_at = 2;
    assert_gives("print(1) print(2) while true do pcall(function() while true do end end) end", REPL_FAILED,
                 "interrupted");
    assert_false(repl_was_interrupted(repl));
    assert_gives("1", REPL_DONE, "1");
}

static void test_what_waits_is_cancelled(void **state)
{
    open_prompt(REPL_OWN_CACHES);
    begin("print 'begins' k8s.sleep '1h'");
    assert_true(repl_is_busy(repl));
    assert_int_equal(ends, 0);
    assert_completes("k8s.", 4, "");
    repl_cancel(repl);
    assert_int_equal(ends, 1);
    assert_int_equal(end, REPL_FAILED);
    assert_string_equal(buf_text(&answer), "interrupted");
    repl_cancel(repl); /* nothing is there */
    assert_gives("1", REPL_DONE, "1");
}

static void test_it_may_go_in_the_middle_of_a_line(void **state)
{
    open_prompt(REPL_OWN_CACHES);
    begin("k8s.sleep '1h'");
    close_prompt();
    assert_int_equal(ends, 0);
}

/* --- caches */

/* Views of many objects, a line that waits, and a heap that closing would free for a long time. */
static void leave_much(void)
{
    struct buf list = {0};
    open_prompt(REPL_OWN_CACHES);
    begin("pods:count()");
    for (int i = 0; i < 2000; i++) buf_printf(&list, "%sshop/p%d", i ? ";" : "", i);
    cluster_list(c, 0, buf_text(&list));
    buf_clear(&list);
    cluster_settle(c);
    assert_gives("kept = pods:list() much = {} for i = 1, 40000 do much[i] = { i } end", REPL_DONE, "");
    begin("k8s.sleep '1h'");
    ends = 0;
    c->told = NULL;
}

static void test_it_ends_in_steps_and_may_be_freed_between_them(void **state)
{
    leave_much();
    assert_true(repl_memory(repl) > 4 << 20);
    for (int step = 0; step < 20; step++) assert_false(repl_end_step(repl));
    while (!repl_end_step(repl)) continue;
    assert_in_range(repl_memory(repl), 1, 2 << 20);
    for (int most = 1; most < 20; most += 4) {
        teardown(state);
        setup(state);
        leave_much();
        for (int step = 0; step < most; step++) repl_end_step(repl);
    }
    assert_int_equal(ends, 0);
}

static void test_a_kind_gets_a_cache_when_it_is_requested(void **state)
{
    open_prompt(REPL_OWN_CACHES);
    begin("pods:count()");
    assert_true(repl_is_busy(repl));
    assert_int_equal(claims, 1);
    assert_int_equal(c->source_count, 1);
    cluster_list(c, 0, "shop/a app=web;shop/b");
    cluster_settle(c);
    assert_false(repl_is_busy(repl));
    assert_string_equal(buf_text(&answer), "2");
    assert_gives("pods", REPL_DONE,
                 "NAMESPACE  NAME  STATUS  AGE\nshop       a     -       -\nshop       b     -       -");
    assert_gives("pods['shop/a']:label 'app', #pods 'app=web', pods:get 'shop/b':name()", REPL_DONE,
                 "web\n1\nb");
    assert_gives("pods.all", REPL_FAILED,
                 "repl:1: pods: unknown method all; for one object, use pods[\"namespace/name\"]");
    assert_gives("caches == nil", REPL_DONE, "true");
    assert_int_equal(claims, 1);
}

static void load_watcher(const char *lua)
{
    struct buf text = {0};
    buf_printf(&text, "k8s = require 'k8s' %s", lua);
    c->script = cluster_load(c, "watcher", buf_text(&text));
    buf_clear(&text);
    cluster_resolve(c);
}

static void test_over_an_engine_it_reads_what_scripts_have(void **state)
{
    load_watcher("k8s.informer 'pods' k8s.informer 'pods' k8s.informer('pods', { namespace = 'shop' })");
    assert_int_equal(c->source_count, 2);
    cluster_list(c, 0, "shop/a;other/b");
    cluster_list(c, 1, "shop/a");
    open_prompt(REPL_SHARED_CACHES);
    assert_gives("pods:count(), kind 'pods in shop':count()", REPL_DONE, "2\n1");
    assert_gives(
        "deployments", REPL_FAILED,
        "repl:1: deployments.apps: the engine has no cache of this kind; use k8s.list(\"deployments.apps\") "
        "to query the server");
    assert_gives("kind 'things'", REPL_FAILED, "repl:1: the server doesn't have a resource type \"things\"");
    assert_gives("things", REPL_FAILED,
                 "repl:1: not a global or kind: the server doesn't have a resource type \"things\"");
    assert_gives("caches", REPL_DONE,
                 "pods                                            2\n"
                 "pods in shop                                    1");
    assert_int_equal(c->source_count, 2);
    assert_completes("p", 0, "pairs pcall pods print ");
    assert_completes("kind 'pods in", 6, "pods in shop ");
}

static void test_caches_of_a_kind_are_named_when_none_has_all_objects(void **state)
{
    load_watcher(
        "k8s.informer('pods', { namespace = 'a' }) k8s.informer('pods', { namespaces = { 'b', 'c' } })");
    open_prompt(REPL_SHARED_CACHES);
    assert_gives(
        "pods", REPL_FAILED,
        "repl:1: pods: the engine has 2 caches of this kind: kind \"pods in a\", kind \"pods in b, c\"");
    for (size_t i = 0; i < 3; i++) cluster_list(c, i, "");
    assert_gives("kind 'pods in b, c':count()", REPL_DONE, "0");
}

static void test_a_cache_with_a_transform_is_its_scripts(void **state)
{
    load_watcher("k8s.informer('pods', { transform = function(pod) return pod end })");
    cluster_list(c, 0, "shop/a");
    open_prompt(REPL_SHARED_CACHES);
    begin("pods:count()");
    assert_int_equal(end, REPL_FAILED);
    assert_non_null(strstr(buf_text(&answer), ": caches with a transform are private to their script"));
}

/* With the claim of the prompt, until that ends. */
static void test_a_cache_outlives_the_script_that_had_it(void **state)
{
    load_watcher("k8s.informer 'pods'");
    cluster_list(c, 0, "shop/a");
    open_prompt(REPL_SHARED_CACHES);
    assert_gives("pods:count()", REPL_DONE, "1");
    script_free(c->script);
    c->script = NULL;
    cluster_event(c, 0, LW_ADDED, "shop/b");
    assert_gives("pods:count()", REPL_DONE, "2");
    assert_false(c->sources[0].freed);
    close_prompt();
    cluster_settle(c);
    assert_true(c->sources[0].freed);
    open_prompt(REPL_SHARED_CACHES);
    assert_gives("caches", REPL_DONE, "# the engine has no caches");
}

static void test_a_cache_that_is_not_there_yet_is_waited_for(void **state)
{
    load_watcher("k8s.informer 'pods'");
    open_prompt(REPL_SHARED_CACHES);
    begin("pods:count()");
    assert_true(repl_is_busy(repl));
    cluster_list(c, 0, "shop/a");
    cluster_settle(c);
    assert_false(repl_is_busy(repl));
    assert_string_equal(buf_text(&answer), "1");
}

/* --- completion */

static void test_completion_knows_names_fields_and_methods(void **state)
{
    open_prompt(REPL_OWN_CACHES);
    assert_gives("thing = { alpha = 1, beta = { gamma = 2 }, ['no name'] = 3 }", REPL_DONE, "");
    assert_completes("thing.", 6, "alpha beta ");
    assert_completes("print(thing.beta.g", 17, "gamma ");
    assert_completes("k8s.json.dec", 9, "decode ");
    assert_gives("trap = setmetatable({ a = {} }, { __index = function() seen = true return {} end })",
                 REPL_DONE, "");
    assert_completes("trap.", 5, "a ");
    assert_completes("trap.b.", 7, "");
    assert_gives("seen == nil", REPL_DONE, "true");
    assert_completes("whi", 0, "while ");
    assert_completes("dep", 0, "deployments ");
    assert_completes("deployments:co", 12, "count ");
    assert_completes("kind \"dep", 6, "deployments.apps ");
    assert_int_equal(claims, 0);
}

/* A table whose names take some time to look through. */
static void make_names(void)
{
    assert_gives("names = {} for i = 1, 1e5 do names['n' .. i] = i end names.one = 1", REPL_DONE, "");
}

static void test_completion_has_the_cpu_of_a_handler(void **state)
{
    struct limits limits = *c->host.limits;
    limits.values[LIMIT_HANDLER_CPU] = 60000;
    c->host.limits = &limits;
    open_prompt(REPL_OWN_CACHES);
    make_names();
    repl->script->limits.values[LIMIT_LOAD_CPU] = 1;
    assert_completes("names.on", 6, "one ");
    repl->script->limits.values[LIMIT_LOAD_CPU] = 60000;
    repl->script->limits.values[LIMIT_HANDLER_CPU] = 1;
    assert_completes("names.on", 8, "");
    repl->script->limits.values[LIMIT_HANDLER_CPU] = 60000;
    assert_completes("names.on", 6, "one ");
    close_prompt();
}

static void on_alarm(int signum)
{
    repl_interrupt(repl); /* which it may: see repl.h. NOLINT(bugprone-signal-handler) */
}

static void test_an_interrupt_ends_a_completion(void **state)
{
    struct limits limits = *c->host.limits;
    limits.values[LIMIT_HANDLER_CPU] = 60000;
    c->host.limits = &limits;
    open_prompt(REPL_OWN_CACHES);
    make_names();
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &(struct itimerval){{.tv_usec = 500}, {.tv_usec = 500}}, NULL);
    assert_completes("names.on", 8, "");
    setitimer(ITIMER_REAL, &(struct itimerval){{0}, {0}}, NULL);
    signal(SIGALRM, SIG_IGN);
    assert_completes("names.on", 6, "one ");
    assert_gives("1 + 1", REPL_DONE, "2");
    close_prompt();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        T(test_a_line_has_its_values_or_an_error),
        T(test_a_name_that_is_no_kind_is_reported_with_the_nearest),
        T(test_nothing_of_it_writes),
        T(test_whom_the_operator_trusts_is_no_prompt),
        T(test_an_interrupt_ends_what_computes_and_nothing_else),
        T(test_what_waits_is_cancelled),
        T(test_it_may_go_in_the_middle_of_a_line),
        T(test_it_ends_in_steps_and_may_be_freed_between_them),
        T(test_a_kind_gets_a_cache_when_it_is_requested),
        T(test_over_an_engine_it_reads_what_scripts_have),
        T(test_caches_of_a_kind_are_named_when_none_has_all_objects),
        T(test_a_cache_with_a_transform_is_its_scripts),
        T(test_a_cache_outlives_the_script_that_had_it),
        T(test_a_cache_that_is_not_there_yet_is_waited_for),
        T(test_completion_knows_names_fields_and_methods),
        T(test_completion_has_the_cpu_of_a_handler),
        T(test_an_interrupt_ends_a_completion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
