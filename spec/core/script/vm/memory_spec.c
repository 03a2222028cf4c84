/* core/script/vm/memory.c: a script that takes too much memory ends, one that only makes much garbage does
 * not, and no allocation that is refused brings the engine down. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/time/piece_meter.h"
#include "core/script/support/run.h"
#include "object/pack/pack.h"
#include "object/pack/slab.h"
#include "script/vm/call.h"
#include "script/vm/memory.h"
#include "script/vm/retained.h"

enum { MI = 1 << 20 };

static int limit(struct fixture *f)
{
    f->script->limits.values[LIMIT_SCRIPT_MEMORY] = 8 * MI;
    memory_set_limit(f->script);
    return 0;
}

static int setup(void **state)
{
    run_setup(state);
    return limit(*state);
}

static int setup_packed(void **state)
{
    run_setup_packed(state);
    return limit(*state);
}

/* The slabs cannot grow any more. */
static int setup_full(void **state)
{
    setup_packed(state);
    struct slabs *cells = ((struct fixture *)*state)->script->heap.cells;
    cells->limit = cells->top;
    return 0;
}

static void assert_over(struct fixture *f, const char *lua)
{
    enum script_result result = run_whole(f, lua);
    const char *text = buf_text(&f->script->failure.text);
    if (result != SCRIPT_MEMORY_LIMIT || !strstr(text, "over the limit script-memory (8Mi) in the task"))
        fail_msg("%s\n  gave %s: %s", lua, script_result_name(result), text);
    assert_int_equal(run_whole(f, "say('fine')"), SCRIPT_OK);
    /* It was collected; the buffer in which LuaJIT joins strings shrinks by and by. */
    if (f->script->memory > 6 * MI) fail_msg("%s\n  left %zu KiB", lua, f->script->memory >> 10);
}

static const char *const bombs[] = {
    "local t = {} for i = 1, math.huge do t[i] = i end",
    "local t = {} for i = 1, math.huge do t[i] = {} end",
    "local t = {} for i = 1, math.huge do t[i] = tostring(i) end",
    "local t = {} for i = 1, math.huge do t['k' .. i] = i end",
    "local t = {} while true do t = { t, t } end",
    "local s = 'x' while true do s = s .. s end",
    "local s = 'x' while true do pcall(function() s = s .. s .. 'y' end) end",
    "local t = {} while true do pcall(function() for i = 1, 1e5 do t[#t + 1] = {} end end) end",
    "local t = {} while true do t[#t + 1] = coroutine.create(function() end) end",
    "local t = {} while true do t[#t + 1] = coroutine.wrap(function() coroutine.yield() end) t[#t]() end",
    "local t = {} while true do t[#t + 1] = function() return t end end",
    "local t = {} while true do local s = ('x'):rep(1e6) .. #t t[#t + 1] = s end",
    "local t = {} while true do t[#t + 1] = load('return ' .. #t) end",
    "local t = {} while true do t[#t + 1] = k8s.int64(1) end",
    "local t = {} while true do t[#t + 1] = k8s.json.decode('[[],[],[],[],[],[],[],[]]') end",
    "return ('x'):rep(2 ^ 24)",
    "local t = {} for i = 1, 1e5 do t[i] = 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' end "
    "while true do t[#t + 1] = table.concat(t) .. #t end",
    "error(setmetatable({}, { __tostring = function() local t = {} while true do t[#t + 1] = {} end end }))",
    "local t = setmetatable({}, { __index = function(t, k) t[k] = {} return t[k + 1] end }) "
    "while true do pcall(function() return t[1] end) t[#t + 1] = {} end",
};

static void test_a_call_that_takes_too_much_ends_and_the_next_one_begins_again(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LEN(bombs); i++) assert_over(f, bombs[i]);
}

static void test_the_error_has_script_and_line(void **state)
{
    struct fixture *f = *state;
    assert_over(f, "local t = {}\nwhile true do\n  t[#t + 1] = {}\nend");
    assert_int_equal(run_whole(f, "local t = {}\nwhile true do\n  t[#t + 1] = {}\nend"), SCRIPT_MEMORY_LIMIT);
    assert_int_equal(f->script->failure.line, 3);
    assert_string_equal(f->script->failure.source, "task.lua");
    assert_failure(f, "task.lua:3: over the limit script-memory (8Mi) in the task");
}

/* Lua unwinds without calling anybody when an allocation is refused. */
static void test_what_is_refused_at_once_has_script_and_line_too(void **state)
{
    static const char *const lines[] = {
        "local s = 'x'\nwhile true do\n  s = s .. s\nend",
        "local t = {}\n\nfor i = 1, math.huge do t[i] = i end",
        "\n\nlocal s = ('x'):rep(2 ^ 24)",
        "local function f() local s = 'x' while true do s = s .. s end end\n\ncoroutine.wrap(f)()",
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        assert_int_equal(run_whole(f, lines[i]), SCRIPT_MEMORY_LIMIT);
        assert_failure(f, "task.lua:3: over the limit script-memory (8Mi) in the task");
        assert_int_equal(f->script->failure.line, 3);
        assert_true(f->script->failure.traceback.len > 0);
    }
}

/* What ends for its CPU time may leave as much behind, and the next call is not the one to pay for it. */
static void test_what_another_limit_ended_is_collected_too(void **state)
{
    struct fixture *f = *state;
    f->script->memory += 12 * MI; /* as if it had grown while it was ending */
    f->script->heap.collect_at = SIZE_MAX;
    memory_settle(f->script);
    f->script->memory -= 12 * MI;
    assert_true(f->script->heap.collect_at < SIZE_MAX);
}

static void assert_fine(struct fixture *f, const char *lua)
{
    if (run_whole(f, lua) != SCRIPT_OK) fail_msg("%s\n  gave %s", lua, buf_text(&f->script->failure.text));
}

/* It keeps seven eighths of what it may have, and makes and drops twenty times its limit beside that. */
static void test_a_healthy_script_near_its_limit_lives_on(void **state)
{
    struct fixture *f = *state;
    assert_fine(f, "kept = {} while collectgarbage('count') < 7 * 1024 do kept[#kept + 1] = "
                   "('%08d'):format(#kept):rep(10) end");
    assert_true(f->script->memory > 6 * MI);
    for (int i = 0; i < 20; i++) {
        assert_fine(f, "for i = 1, 1e4 do local s = ('%d'):format(i):rep(100) end");
        assert_fine(f, "for i = 1, 1e4 do local s = { i, { i } } end");
        assert_fine(f, "local s = ('x'):rep(2e5)");
    }
}

/* A collection of all would hold up the handlers of scripts. */
static void test_a_prompt_near_its_limit_is_collected_in_steps(void **state)
{
    struct fixture *f = *state;
    struct piece_meter meter = {0};
    f->script->brief = &meter;
    f->script->heap.lived = 1;
    assert_fine(f, "kept = {} while collectgarbage('count') < 7 * 1024 do kept[#kept + 1] = "
                   "('%08d'):format(#kept):rep(10) end");
    assert_true(f->script->memory > 6 * MI);
    for (int i = 0; i < 20; i++) {
        assert_fine(f, "for i = 1, 1e3 do local s = ('%d'):format(i):rep(100) end");
        assert_fine(f, "for i = 1, 1e3 do local s = { i, { i } } end");
    }
    assert_int_equal(f->script->heap.lived, 1);
    f->script->brief = NULL;
}

static void test_a_line_of_a_prompt_that_takes_too_much_ends(void **state)
{
    struct fixture *f = *state;
    struct piece_meter meter = {0};
    f->script->brief = &meter;
    for (size_t i = 0; i < ARRAY_LEN(bombs); i++) assert_over(f, bombs[i]);
    f->script->brief = NULL;
}

/* Only a cycle of the collector tells what lives in Lua, and that is not all that the script has. */
static void test_what_a_prompt_keeps_beside_lua_counts_for_its_limit(void **state)
{
    struct fixture *f = *state;
    struct piece_meter meter = {0};
    enum script_result result = SCRIPT_OK;
    f->script->brief = &meter;
    memory_keep(f->script, 4 * MI);
    assert_fine(f, "kept = {} for i = 1, 32500 do kept[i] = ('%08d'):format(i):rep(10) end");
    assert_true(f->script->memory > 8 * MI);
    for (int turn = 0; turn < 50 && result == SCRIPT_OK; turn++)
        result = run_whole(f, "for i = 1, 100 do local s = { i, { i } } end");
    assert_int_equal(result, SCRIPT_MEMORY_LIMIT);
    memory_keep(f->script, -4 * MI);
    f->script->brief = NULL;
}

static struct root *only;

static struct root *the_only(const struct retained_set *many, size_t i)
{
    return only;
}

/* A cycle tells what lives in Lua, whatever is found to be retained beside it before the cycle ends. */
static void test_what_a_cycle_found_to_live_is_not_less_by_what_was_retained_meanwhile(void **state)
{
    struct fixture *f = *state;
    struct piece_meter meter = {0};
    struct retained_set many = {.at = the_only};
    struct pool *pool = pool_new(NULL);
    struct packer *packer = packer_new(pool);
    struct err err;
    char text[256 + TAPE_PADDING] =
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"namespace\":\"shop\"}}";
    if (!pack_text(packer, text, strlen(text), NULL, &only, &err)) fail_msg("%s", err.text);
    f->script->brief = &meter;
    assert_fine(f, "kept = {} for i = 1, 20000 do kept[i] = ('%08d'):format(i):rep(10) end");
    for (int turn = 0; turn < 500 && !f->script->heap.pace.sweeps; turn++)
        assert_fine(f, "for i = 1, 100 do local s = { i, { i } } end");
    assert_true(f->script->heap.pace.sweeps);
    many.count = 2 * MI / root_bytes(only);
    retained_add_set(f->script, &many);
    retained_recount(f->script, false);
    assert_in_range(f->script->retained.bytes, MI, 3 * MI);
    for (int turn = 0; turn < 500 && f->script->heap.pace.sweeps; turn++)
        assert_fine(f, "for i = 1, 100 do local s = { i, { i } } end");
    assert_false(f->script->heap.pace.sweeps);
    assert_in_range(f->script->heap.pace.found, 20000 * 80, f->script->memory - f->script->retained.bytes);
    retained_remove_set(&many);
    retained_recount(f->script, false);
    f->script->brief = NULL;
    root_unref(only);
    packer_free(packer);
    pool_free(pool);
}

static void test_collections_near_the_limit_are_few(void **state)
{
    struct fixture *f = *state;
    struct script_heap *heap = &f->script->heap;
    /* a chain, as an array grows by leaps */
    assert_int_equal(
        run_whole(f, "kept = {} while collectgarbage('count') < 6.5 * 1024 do kept = { kept } end"),
        SCRIPT_OK);
    size_t next = heap->collect_at;
    while (heap->collect_at == next) /* to the next one, wherever this began */
        assert_fine(f, "for i = 1, 500 do kept[#kept + 1] = { i } end");
    next = heap->collect_at;
    assert_true(next > f->script->memory + (heap->limit - f->script->memory) / 4);
    assert_true(next < heap->limit);
}

/* Each collection walks all that lives: one for every tenth of it costs more than the script's own work. */
static void test_a_script_with_room_collects_when_its_garbage_is_about_as_much_as_what_lives(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(run_whole(f, "kept, weak, cycles = {}, setmetatable({}, { __mode = 'v' }), 0 "
                                  "for i = 1, 45000 do kept['key ' .. i] = i end"),
                     SCRIPT_OK);
    size_t lives = f->script->memory;
    assert_in_range(lives, 9 * MI / 4, 4 * MI);
    for (int turn = 0; turn < 150; turn++)
        assert_int_equal(run_whole(f, "if not weak[1] then cycles, weak[1] = cycles + 1, {} end "
                                      "for i = 1, 1000 do local garbage = { i, {} } end"),
                         SCRIPT_OK);
    assert_fine(f, "assert(cycles > 1 and cycles < 30, cycles)");
}

/* One step of the collector goes over the whole table, which takes longer than a call may. */
static void test_what_the_collector_takes_is_not_the_calls(void **state)
{
    struct fixture *f = *state;
    f->script->limits.values[LIMIT_SCRIPT_MEMORY] = 260 * MI; /* so that cycles follow each other */
    f->script->limits.values[LIMIT_LOAD_CPU] = 60000;
    f->script->limits.values[LIMIT_HANDLER_CPU] = 60000;
    memory_set_limit(f->script);
    assert_fine(f, "kept, weak, cycles = {}, setmetatable({}, { __mode = 'v' }), 0 "
                   "for i = 1, 1500000 do kept[i .. ' is a key'] = i end");
    f->script->limits.values[LIMIT_HANDLER_CPU] = 20;
    for (int turn = 0; turn < 450; turn++)
        assert_fine(f, "if not weak[1] then cycles, weak[1] = cycles + 1, {} end "
                       "for i = 1, 15000 do local garbage = i % 15 == 0 and { i, {} } end");
    assert_fine(f, "assert(cycles > 1, cycles)");
}

static void test_a_state_that_does_not_fit_is_refused(void **state)
{
    struct fixture *f = *state;
    struct limits small = limits_default;
    struct err err;
    char path[160];
    small.values[LIMIT_SCRIPT_MEMORY] = 40 << 10;
    f->host.limits = &small;
    fixture_write(f, "small.lua", "return 1");
    snprintf(path, sizeof path, "%s/small.lua", f->folder);
    assert_null(script_load(&f->host, path, "small", &err));
    if (!strstr(err.text, "over the limit script-memory (40Ki)")) fail_msg("%s", err.text);
}

/* Lua cannot live with a block that does not shrink. */
static void test_a_block_shrinks_where_the_slabs_have_no_room(void **state)
{
    enum { LARGE = 300, CELL = 200, SMALLER = 48 };
    struct script *script = ((struct fixture *)*state)->script;
    size_t before = script->memory;
    char *large = memory_allocate(script, NULL, 0, LARGE), *cell = memory_allocate(script, NULL, 0, CELL);
    assert_true(large && cell);
    memset(large, 'l', LARGE);
    memset(cell, 'c', CELL);
    while (slabs_alloc(script->heap.cells, SMALLER)) continue;
    large = memory_allocate(script, large, LARGE, SMALLER);
    cell = memory_allocate(script, cell, CELL, SMALLER);
    assert_true(large && cell);
    for (int i = 0; i < SMALLER; i++) assert_true(large[i] == 'l' && cell[i] == 'c');
    assert_int_equal(script->memory, before + 2 * SMALLER);
    large = memory_allocate(script, large, SMALLER, CELL); /* one of those that were given back */
    assert_true(large[SMALLER - 1] == 'l');
    memory_allocate(script, large, CELL, 0);
    memory_allocate(script, cell, SMALLER, 0);
    assert_int_equal(script->memory, before);
}

/* --- refusals everywhere */

static const char everything[] =
    "local k8s = require 'k8s' local t = {} for i = 1, 20 do t[i] = { i, tostring(i) } end\n"
    "local ok = pcall(function() return k8s.json.decode(k8s.json.encode { a = t, b = 'x' }) end)\n"
    "local co = coroutine.wrap(function(x) for i = 1, 5 do coroutine.yield({ i }) end end) co() co()\n"
    "pcall(error, setmetatable({}, { __tostring = function() return 'x' .. #t end }))\n"
    "k8s.quantity('100m') k8s.int64(5) k8s.after('1h', print):stop() table.concat({ 'a', 'b' }, ',')\n"
    "pcall(k8s.informer, 'pods', { nmespace = 'x' }) pcall(k8s.get, 'pods', 'x/y')\n"
    "if k8s.queue then pcall(function() local q = k8s.queue { name = 'q' .. math.random() } q:add('k') end) "
    "end\n"
    "k8s.sleep(1) error({ message = 'm' .. #t })";

static int function;

static void keep_function(lua_State *L, void *ctx)
{
    if (luaL_loadstring(L, everything) != 0) lua_error(L);
    function = luaL_ref(L, LUA_REGISTRYINDEX);
}

static void on_end(void *ctx, enum script_result result)
{
    *(enum script_result *)ctx = result;
}

static void set_room(struct script *script, size_t bytes)
{
    script->limits.values[LIMIT_SCRIPT_MEMORY] = (int64_t)bytes;
    memory_set_limit(script);
    script->heap.hard = bytes;
}

/* The limit moves up step by step: sooner or later each allocation is the one that is refused. */
static void test_any_allocation_may_be_refused(void **state)
{
    struct fixture *f = *state;
    struct script *script = f->script;
    unsigned refused = 0, ended = 0;
    assert_int_equal(script_call(script, "a spec", keep_function, NULL), SCRIPT_OK);
    for (size_t room = 0; room < 60000; room += 61 + room / 32) {
        enum script_result result;
        struct task *task;
        memory_collect(script->L);
        set_room(script, script->memory + room);
        result = task_run(
            script,
            &(struct task_call){.what = "a task", .function = function, .done = on_end, .ctx = &result},
            &task);
        if (result == SCRIPT_YIELDED) run_advance(1000);
        refused += result == SCRIPT_MEMORY_LIMIT;
        ended += result == SCRIPT_ERROR;
        set_room(script, 64 * MI);
        assert_fine(f, "said = ''");
    }
    assert_true(refused > 10 && ended > 10);
}

static void test_any_allocation_of_the_load_phase_may_be_refused(void **state)
{
    struct fixture *f = *state;
    struct limits small = limits_default;
    char path[160];
    unsigned loaded = 0, refused = 0;
    f->host.limits = &small;
    fixture_write(f, "tight.lua",
                  "local k8s = require 'k8s' local q = k8s.queue { name = 'q' } q:run(function() end)\n"
                  "k8s.every('1h', print) k8s.main(function() end) local cjson = require 'cjson'");
    snprintf(path, sizeof path, "%s/tight.lua", f->folder);
    for (int64_t limit = 1 << 10; limit < 1 << 20; limit += limit < 300 << 10 ? 577 : 40961) {
        struct err err;
        small.values[LIMIT_SCRIPT_MEMORY] = limit;
        struct script *script = script_load(&f->host, path, "tight", &err);
        if (!script && !strstr(err.text, "over the limit script-memory ("))
            fail_msg("%lld: %s", (long long)limit, err.text);
        loaded += script != NULL;
        refused += script == NULL;
        script_free(script);
    }
    assert_true(loaded > 5 && refused > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define WITH(setup, name) {#name " " #setup, name, setup, run_teardown, NULL}
#define T(name)           WITH(setup, name)
        T(test_a_call_that_takes_too_much_ends_and_the_next_one_begins_again),
        T(test_the_error_has_script_and_line),
        T(test_what_is_refused_at_once_has_script_and_line_too),
        T(test_what_another_limit_ended_is_collected_too),
        T(test_a_healthy_script_near_its_limit_lives_on),
        T(test_a_prompt_near_its_limit_is_collected_in_steps),
        T(test_a_line_of_a_prompt_that_takes_too_much_ends),
        T(test_what_a_prompt_keeps_beside_lua_counts_for_its_limit),
        T(test_what_a_cycle_found_to_live_is_not_less_by_what_was_retained_meanwhile),
        T(test_collections_near_the_limit_are_few),
        T(test_a_script_with_room_collects_when_its_garbage_is_about_as_much_as_what_lives),
        T(test_what_the_collector_takes_is_not_the_calls),
        T(test_a_state_that_does_not_fit_is_refused),
        T(test_any_allocation_may_be_refused),
        T(test_any_allocation_of_the_load_phase_may_be_refused),
        WITH(setup_packed, test_a_call_that_takes_too_much_ends_and_the_next_one_begins_again),
        WITH(setup_packed, test_a_healthy_script_near_its_limit_lives_on),
        WITH(setup_packed, test_a_prompt_near_its_limit_is_collected_in_steps),
        WITH(setup_packed, test_a_line_of_a_prompt_that_takes_too_much_ends),
        WITH(setup_packed, test_any_allocation_may_be_refused),
        WITH(setup_full, test_a_block_shrinks_where_the_slabs_have_no_room),
        WITH(setup_full, test_a_call_that_takes_too_much_ends_and_the_next_one_begins_again),
        WITH(setup_full, test_a_healthy_script_near_its_limit_lives_on),
        WITH(setup_full, test_a_line_of_a_prompt_that_takes_too_much_ends),
        WITH(setup_full, test_any_allocation_may_be_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
