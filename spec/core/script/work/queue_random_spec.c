/* 10,000 keys through k8s.queue and q:run with 4 workers and random failures, in Lua on a virtual clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "core/script/support/run.h"
#include "script/work/script_queue.h"

/* What must hold is checked in the worker: it raises what no failure of its own looks like. A token of the
 * bucket is the time at which it comes; ages are in milliseconds of the virtual clock. */
static const char script[] =
    "KEYS, BASE, CAP, TOKEN, BURST = 10000, 5, 1000000, 100, 100\n"
    "wrong, handled, due, fails, busy, added, ended = nil, {}, {}, {}, {}, {}, {}\n"
    "running, most, exact = 0, 0, 0\n"
    "idle, idle_end = 0, 0 -- since when a worker is idle; until when one was\n"
    "q = k8s.queue { name = 'x', workers = 4 }\n"
    "local start = k8s.now()\n"
    "function now() return math.floor((k8s.now() - start) * 1000 + 0.5) end\n"
    "last = -BURST * TOKEN\n"
    "local function delay(n)\n"
    "  local own = math.min(BASE * 2 ^ n, CAP)\n"
    "  last = math.max(last, now() - BURST * TOKEN) + TOKEN\n"
    "  return math.max(own, last - now())\n"
    "end\n"
    "local function check(good, text) if not good then wrong = wrong or text end end\n"
    "q:run(function(key, job)\n"
    "  check(not busy[key], key .. ' is with two workers')\n"
    "  check(job.retries == (fails[key] or 0), key .. ': retries ' .. job.retries)\n"
    "  if added[key] then -- while it was worked on: it comes at once, whatever it waits for\n"
    "    if due[key] and due[key] <= now() then due[key] = nil end\n"
    "  elseif due[key] then\n"
    "    check(now() >= due[key], key .. ' came too early')\n"
    "    local from = math.max(due[key], ended[key] or 0) -- due while it was worked on: when that ended\n"
    "    if now() == from then exact = exact + 1\n"
    "    else -- late is what had to wait for a worker\n"
    "      check(idle == now() and idle_end <= from, key .. ' came ' .. now() - from .. ' ms late')\n"
    "    end\n"
    "    due[key] = nil\n"
    "  end\n"
    "  busy[key], running, added[key] = true, running + 1, nil\n"
    "  most = math.max(most, running)\n"
    "  if running == 4 then\n"
    "    if idle < now() then idle_end = now() end\n"
    "    idle = nil\n"
    "  end\n"
    "  k8s.sleep(math.random(0, 20) / 1000)\n"
    "  if math.random(10) == 1 then added[key] = true q:add(key) end\n"
    "  busy[key], ended[key], running, idle = nil, now(), running - 1, idle or now()\n"
    "  local outcome = math.random(10)\n"
    "  if outcome > 3 then\n"
    "    handled[key], fails[key] = true, nil\n"
    "    return true\n"
    "  end\n"
    "  due[key] = math.min(due[key] or math.huge, now() + delay(fails[key] or 0))\n"
    "  fails[key] = (fails[key] or 0) + 1\n"
    "  if outcome == 1 then return nil, 'at random' end\n"
    "  job:retry 'at random'\n"
    "end)\n"
    "for i = 1, KEYS do q:add('k' .. i) end\n";

static void test_w8_each_key_is_handled_never_twice_at_once_and_in_its_time(void **state)
{
    struct fixture *f = *state;
    struct script_queue_status status;
    const char *given = getenv("SEED");
    unsigned seed = given ? (unsigned)strtoul(given, NULL, 0) : (unsigned)time(NULL);
    char lua[64];
    print_message("SEED=%u\n", seed);
    snprintf(lua, sizeof lua, "math.randomseed(%u)", seed);
    assert_lua(f, lua, "nil");
    f->script->phase = SCRIPT_LOADING;
    assert_lua(f, script, "nil");
    f->script->phase = SCRIPT_RUNNING;
    while (f->script->own.queues->keys.keys > 0 && run_clock.now < 7200000)
        virtual_clock_advance(&run_clock, 1000);
    assert_int_equal(f->script->own.queues->keys.keys, 0);
    assert_lua(f, "return wrong", "nil");
    assert_lua(f, "for i = 1, KEYS do if not handled['k' .. i] then return i end end return next(due)",
               "nil");
    assert_lua(f, "return most .. (exact > 1000 and ' exact' or ' only ' .. exact)", "4 exact");
    script_get_queue_status(f->script, 0, &status);
    assert_int_equal(status.queue.processing + status.queue.depth + status.queue.failing, 0);
    print_message("%llu retries, %.0f s\n", (unsigned long long)status.queue.retries,
                  (double)run_clock.now / 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_w8_each_key_is_handled_never_twice_at_once_and_in_its_time,
                                        run_setup, run_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
