/* core/script/work/script_queue.c, bind_queue.c, bind_job.c, lua/k8s/queue.lua: work queues of scripts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/script/support/run.h"
#include "script/work/script_queue.h"

static struct script_queue_status status_of(struct fixture *f)
{
    struct script_queue_status status;
    script_get_queue_status(f->script, 0, &status);
    return status;
}

/* --- workers */

static void test_each_key_is_one_call_whether_it_waits_or_not(void **state)
{
    struct fixture *f = *state;
    run_load(f, "q = k8s.queue { name = 'x', workers = 2 }\n"
                "q:run(function(key, job) say('b' .. key) k8s.sleep(1) say('e' .. key) end)\n"
                "q:add 'a' q:add 'b' q:add 'c' q:add 'a'");
    run_advance(0);
    assert_lua(f, "q:add 'a' return take() .. q:len()", "ba;bb;1"); /* a comes again when it has ended */
    assert_int_equal(status_of(f).queue.processing, 2);
    run_advance(1000);
    assert_lua(f, "return take()", "ea;eb;bc;ba;");
    run_advance(1000);
    assert_lua(f, "return take() .. q:len()", "ec;ea;0");
    assert_int_equal(f->script->own.queues->keys.keys, 0);
}

static void test_many_calls_that_do_not_wait_are_made_in_turns(void **state)
{
    struct fixture *f = *state;
    run_load(f, "n = 0 q = k8s.queue { name = 'x' } q:run(function() n = n + 1 end)\n"
                "for i = 1, 250 do q:add('k' .. i) end");
    clock_fire(&run_clock.clock);
    assert_lua(f, "return n", "100");
    run_advance(0);
    assert_lua(f, "return n", "250");
}

static void test_nothing_or_true_is_done_and_forgotten(void **state)
{
    struct fixture *f = *state;
    run_load(f, "q = k8s.queue { name = 'x' } answers = { nothing = function() end, yes = function() return "
                "true, 'x' "
                "end, null = function() return nil end, text = function() return 'fine' end }\n"
                "q:run(function(key, job) say(key .. job.retries) return answers[key]() end)\n"
                "for _, key in ipairs { 'nothing', 'yes', 'null', 'text' } do q:add(key) end");
    run_advance(10000000);
    assert_lua(f, "return take()", "nothing0;yes0;null0;text0;");
    assert_int_equal(status_of(f).queue.retries, 0);
    assert_int_equal(script_counters(f->script).errors, 0);
}

static void test_w8_failures_are_tried_again_later_and_later(void **state)
{
    struct fixture *f = *state;
    run_load(f, "q = k8s.queue { name = 'x' } how = { raised = function() error 'broken' end, "
                "err = function() return nil, { message = 'gone' } end, no = function() return false end, "
                "retry = function(job) job:retry('conflict') return true end }\n"
                "q:run(function(key, job) say(key .. job.retries) return how[key](job) end)\n");
    const char *const keys[] = {"raised", "err", "no", "retry"};
    for (size_t i = 0; i < 4; i++) {
        char lua[200];
        snprintf(lua, sizeof lua, "q:add '%s'", keys[i]);
        assert_lua(f, lua, "nil");
        run_advance(4);
        snprintf(lua, sizeof lua, "return take() == '%s0;' and q:num_requeues '%s'", keys[i], keys[i]);
        assert_lua(f, lua, "1");
        run_advance(1);
        snprintf(lua, sizeof lua, "return take() == '%s1;'", keys[i]);
        assert_lua(f, lua, "true");
        run_advance(9);
        assert_lua(f, "return take()", "");
        run_advance(1 + 20 + 40);
        snprintf(lua, sizeof lua, "how.%s = function() end return take()", keys[i]);
        fixture_run(f, lua);
        run_advance(80);
        snprintf(lua, sizeof lua, "return take() .. q:num_requeues '%s'", keys[i]);
        assert_lua(f, lua, i == 0 ? "raised5;0" : i == 1 ? "err5;0" : i == 2 ? "no5;0" : "retry5;0");
    }
    assert_int_equal(status_of(f).queue.failing, 0);
    assert_int_equal(script_counters(f->script).errors, 15); /* not those of job:retry */
    assert_int_equal(status_of(f).errors, 15);
}

static void test_after_comes_again_then_and_is_forgotten(void **state)
{
    struct fixture *f = *state;
    run_load(f,
             "q = k8s.queue { name = 'x' } n = 0\n"
             "q:run(function(key, job) n = n + 1 say(job.retries) if n == 1 then error 'x' end job:retry() "
             "job:after('5m') end) q:add 'a'");
    run_advance(5);
    assert_lua(f, "return take() .. q:num_requeues 'a'", "0;1;0"); /* the last word counts */
    run_advance(299999);
    assert_lua(f, "return take()", "");
    run_advance(1);
    assert_lua(f, "return take()", "0;");
}

static void test_a_method_that_a_job_does_not_have_raises(void **state)
{
    struct fixture *f = *state;
    run_load(f, "q = k8s.queue { name = 'x' } q:run(function(key, job)\n"
                "say(select(2, pcall(function() job:retyr() end)):match 'job: .*')\n"
                "say(tostring(job[1])) end) q:add 'a'");
    run_advance(5);
    assert_lua(f, "return take()", "job: unknown method \"retyr\", did you mean \"retry\"?;nil;");
}

static void test_a_failure_behind_job_after_is_a_failure(void **state)
{
    struct fixture *f = *state;
    run_load(
        f, "q = k8s.queue { name = 'x' } q:run(function(key, job) say 'x' job:after(0) return nil, 'no' end) "
           "q:add 'a'");
    run_advance(4);
    assert_lua(f, "return take()", "x;");
}

static void test_after_max_retries_a_key_is_dropped(void **state)
{
    struct fixture *f = *state;
    run_load(f,
             "q = k8s.queue { name = 'x', max_retries = 2 }\n"
             "q:run(function(key, job) say(job.retries) if key == 'a' then error 'x' end job:retry 'y' end)\n"
             "q:add 'a'");
    run_advance(100000);
    assert_lua(f, "return take() .. q:num_requeues 'a'", "0;1;2;0");
    assert_int_equal(status_of(f).queue.dropped, 1);
    assert_lua(f, "q:add 'b'", "nil");
    run_advance(100000);
    assert_lua(f, "return take()", "0;1;2;");
    assert_int_equal(status_of(f).queue.dropped, 2);
    assert_int_equal(f->script->own.queues->keys.keys, 0);
}

static void test_a_job_ends_with_its_call(void **state)
{
    struct fixture *f = *state;
    run_load(f, "q = k8s.queue { name = 'x' } q:run(function(key, job) kept = job end) q:add 'a'");
    run_advance(0);
    assert_lua(f, "return tostring(kept) .. kept.retries", "job (0 retries)0");
    assert_raises(f, "kept:retry()", "snippet.lua:1: job:retry: the job has already ended");
    assert_raises(f, "kept.after(1)", "snippet.lua:1: job:after: called on number, not on a job");
}

/* --- client-go's verbs */

static void test_the_raw_verbs_work_without_run(void **state)
{
    struct fixture *f = *state;
    run_load(f, "q = k8s.queue { name = 'x', base = '1s', qps = 0 }\n"
                "q:add 'a' q:add 'b' q:add 'a' say(q:len())");
    assert_int_equal(
        run_whole(f, "local k, down = q:get() say(k, tostring(down)) q:add 'a' say(q:len())\n"
                     "q:done 'a' say((q:get())) q:done 'a' say((q:get())) q:done 'a' q:done 'b' q:done 'z'"),
        SCRIPT_OK);
    assert_lua(
        f,
        "say(q:len()) q:add_rate_limited 'r' q:add_rate_limited 'r' say(q:num_requeues 'r') q:forget 'r' "
        "say(q:num_requeues 'r') q:add_after('l', '500ms') return take()",
        "2;a false;1;b;a;0;2;0;");
    run_advance(500);
    assert_lua(f, "return q:len()", "1");
}

static void test_w2_get_waits_for_a_key_and_for_the_end(void **state)
{
    struct fixture *f = *state;
    struct run first, second;
    run_load(f, "q = k8s.queue { name = 'x' }");
    const char *getter =
        "while true do local key, down = q:get() if down then say('end ' .. tostring(key)) return "
        "end say(key) k8s.sleep(1) q:done(key) end";
    run_start(f, &first, getter);
    run_start(f, &second, getter);
    assert_lua(f, "q:add 'a' q:add 'a' q:add_after('b', 0.5)", "nil");
    run_advance(0);
    assert_lua(f, "q:add 'a' return take()", "a;");
    run_advance(500);
    assert_lua(f, "return take()", "b;");
    run_advance(500);
    assert_lua(f, "return take()", "a;");
    assert_lua(f, "q:add 'c' q:add_after('d', 5) q:shut_down() q:add 'e'", "nil");
    run_advance(500);
    assert_lua(f, "return take()", "c;");
    run_advance(500); /* the first sees the end, as the queue is empty */
    assert_lua(f, "return take()", "end nil;");
    run_advance(500);
    assert_lua(f, "return take()", "end nil;");
    assert_int_equal(first.ends + second.ends, 2);
}

static void test_w5_a_drain_waits_for_the_workers(void **state)
{
    struct fixture *f = *state;
    struct run run;
    run_load(
        f, "q = k8s.queue { name = 'x' } q:run(function(key) k8s.sleep(1) say(key) end) q:add 'a' q:add 'b' "
           "q:add_after('c', 5)");
    run_advance(0);
    run_start(f, &run, "q:shut_down { drain = true } say 'drained'");
    assert_lua(f, "q:add 'd'", "nil");
    run_advance(1500);
    assert_lua(f, "return take()", "a;");
    run_advance(10000);
    assert_lua(f, "return take()", "b;drained;");
    assert_int_equal(run_whole(f, "q:shut_down { drain = true } say 'at once'"), SCRIPT_OK);
    assert_true(status_of(f).queue.shut_down);
}

static void test_w5_a_shutdown_releases_a_drain(void **state)
{
    struct fixture *f = *state;
    struct run run;
    run_load(f, "q = k8s.queue { name = 'x' } q:add 'a'");
    assert_int_equal(run_whole(f, "q:get()"), SCRIPT_OK);
    run_start(f, &run, "q:shut_down { drain = true } say 'released'");
    run_advance(1000);
    assert_lua(f, "return take()", "");
    assert_lua(f, "q:shut_down()", "nil");
    run_advance(0);
    assert_lua(f, "return take()", "released;");
}

/* --- the script's end */

static void test_a_stop_begins_no_work_and_takes_nothing_in(void **state)
{
    struct fixture *f = *state;
    struct run run;
    run_load(f,
             "q = k8s.queue { name = 'x' } q:run(function(key) say(key) k8s.sleep(1) say 'no' end) q:add 'a' "
             "q:add 'b' q:add_after('c', 1) r = k8s.queue { name = 'y' }");
    run_start(f, &run, "r:get()");
    run_advance(0);
    script_stop(f->script);
    run_advance(10000);
    assert_int_equal(run.result, SCRIPT_OK); /* get returned nil, true */
    assert_int_equal(script_waiting_calls(f->script), 0);
    assert_lua(f, "q:add 'd' return take() .. q:len()", "a;2"); /* a too: its work was cancelled */
    assert_int_equal(script_counters(f->script).errors, 0);
}

static void test_a_script_may_be_freed_while_workers_wait(void **state)
{
    struct fixture *f = *state;
    run_load(f, "q = k8s.queue { name = 'x', workers = 3 } q:run(function(key) k8s.sleep(100) end)\n"
                "for i = 1, 10 do q:add('k' .. i) end q:add_after('l', 5) q:add_rate_limited 'm'");
    run_advance(0);
}

/* --- misuse and limits */

static void test_options_are_checked(void **state)
{
    struct fixture *f = *state;
    assert_raises(f, "k8s.queue { name = 'x' }",
                  "snippet.lua:1: k8s.queue may only be called while the script is loading");
    f->script->phase = SCRIPT_LOADING;
    assert_raises(f, "k8s.queue {}", "snippet.lua:1: k8s.queue: name must be a string, not nil");
    assert_raises(f, "k8s.queue { name = '' }", "name must be a string of 1 to 253 printable characters");
    assert_raises(f, "k8s.queue { name = 'a\\n' }", "name must be a string of 1 to 253 printable characters");
    assert_raises(f, "k8s.queue { nam = 'x' }", "unknown option \"nam\", did you mean \"name\"?");
    assert_raises(f, "k8s.queue { name = 'x', workers = 0 }", "workers must be between 1 and 1000, not 0");
    assert_raises(f, "k8s.queue { name = 'x', workers = 1.5 }", "workers must be a whole number, not 1.5");
    assert_raises(f, "k8s.queue { name = 'x', qps = 0/0 }", "qps must be between 0 and");
    assert_raises(f, "k8s.queue { name = 'x', base = 'soon' }",
                  "k8s.queue: base must be a number of seconds, or a string");
    assert_raises(f, "k8s.queue { name = 'x', base = 2, max = 1 }",
                  "k8s.queue: max must not be less than base");
    assert_raises(f, "k8s.queue { name = 'x', fast_tries = 2 }", "fast and fast_tries need slow");
    assert_raises(f, "k8s.queue { name = 'x' } k8s.queue { name = 'x' }",
                  "the name \"x\" is already used; set another");
    assert_raises(f, "local q = k8s.queue { name = 'y' } q:run(print) q:run(print)",
                  "snippet.lua:1: queue:run was already called on the queue \"y\"");
    assert_raises(f, "k8s.queue { name = 'z' }:run(5)",
                  "queue:run: the argument must be a function, not number");
    assert_raises(f, "for i = 1, 100 do k8s.queue { name = 'n' .. i } end",
                  "limit queues exceeded: there are already 100");
    f->script->phase = SCRIPT_RUNNING;
}

static void test_verbs_are_checked(void **state)
{
    struct fixture *f = *state;
    run_load(f, "q = k8s.queue { name = 'x' }");
    assert_raises(f, "q.add('x')", "queue:add: called on string, not on a queue");
    assert_raises(f, "q:add(5)", "snippet.lua:1: queue:add: the key must be a string, not number");
    assert_raises(f, "q:add_after('x', 'y')",
                  "queue:add_after: the duration must be a number of seconds, or a string");
    assert_raises(f, "q:shut_down { drian = true }", "did you mean \"drain\"?");
    assert_raises(f, "q:get()", "snippet.lua:1: queue:get may not be called in a snippet");
    assert_raises(f, "q:enqueuer(5)", "queue:enqueuer: expected a function, not number");
    assert_raises(f, "q:enqueuer(function() return 5 end)()", "must return a key, a list of keys or nothing");
    assert_lua(f, "return tostring(q)", "queue x");
}

static void test_keys_are_limited_over_all_queues_of_a_script(void **state)
{
    struct fixture *f = *state;
    run_load(
        f,
        "q, r = k8s.queue { name = 'x' }, k8s.queue { name = 'y' } for i = 1, 60000 do q:add('k' .. i) end");
    assert_raises(f, "for i = 1, 60000 do r:add('k' .. i) end",
                  "snippet.lua:1: queue:add: over the limit queue-keys (100000)");
    assert_lua(f, "return r:len()", "40000");
    assert_raises(f, "q:add(('x'):rep(4097))", "queue:add: the key has 4097 bytes, the maximum is 4096");
}

/* --- enqueuers */

static void test_an_enqueuer_adds_the_key_of_an_object_or_what_it_maps_to(void **state)
{
    struct fixture *f = *state;
    fixture_global(
        f, "a",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"namespace\":\"shop\"}}");
    fixture_global(f, "b", "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"b\"}}");
    run_load(f, "q = k8s.queue { name = 'x' } q:run(function(key) say(key) end)");
    assert_lua(f, "local f = q:enqueuer() f(a, {}) f(a, a) f(b)", "nil");
    run_advance(0);
    assert_lua(f, "return take()", "shop/a;b;");
    assert_lua(f, "local f = q:enqueuer(function(obj) return { obj:name(), 'all' } end) f(a, b) f(a, {})",
               "nil");
    run_advance(0);
    assert_lua(f, "return take()", "a;all;b;");
    assert_lua(f, "local f = q:enqueuer(function(obj) return obj:name() end) f(a, { previous = b })", "nil");
    run_advance(0);
    assert_lua(f, "return take()", "a;b;"); /* what was told before a delete may concern other keys */
    assert_lua(f, "q:enqueuer(function() end)(a) q:enqueuer(function() return 'one' end)(a)", "nil");
    run_advance(0);
    assert_lua(f, "return take()", "one;");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, run_setup, run_teardown)
        T(test_each_key_is_one_call_whether_it_waits_or_not),
        T(test_many_calls_that_do_not_wait_are_made_in_turns),
        T(test_nothing_or_true_is_done_and_forgotten),
        T(test_w8_failures_are_tried_again_later_and_later),
        T(test_after_comes_again_then_and_is_forgotten),
        T(test_a_method_that_a_job_does_not_have_raises),
        T(test_a_failure_behind_job_after_is_a_failure),
        T(test_after_max_retries_a_key_is_dropped),
        T(test_a_job_ends_with_its_call),
        T(test_the_raw_verbs_work_without_run),
        T(test_w2_get_waits_for_a_key_and_for_the_end),
        T(test_w5_a_drain_waits_for_the_workers),
        T(test_w5_a_shutdown_releases_a_drain),
        T(test_a_stop_begins_no_work_and_takes_nothing_in),
        T(test_a_script_may_be_freed_while_workers_wait),
        T(test_options_are_checked),
        T(test_verbs_are_checked),
        T(test_keys_are_limited_over_all_queues_of_a_script),
        T(test_an_enqueuer_adds_the_key_of_an_object_or_what_it_maps_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
