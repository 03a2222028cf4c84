/* CPU budgets of calls; see budget.h. */
#include "script/vm/budget.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/must.h"
#include "base/time/piece_meter.h"
#include "script/vm/args.h"
#include "script/vm/cpu_watch.h"
#include "script/vm/failure.h"
#include "script/vm/memory.h"
#include "script/vm/state.h"

enum { NS_PER_MS = 1000000 };
enum { PIECE_LEAST_MS = 20 };

/* --- Error message */

/* "the handler pods/1", "the filter of pods/1", "the load phase" */
static void put_call(const struct script *script, const struct budget_call *call, struct buf *out)
{
    struct buf caller = {0}, trigger = {0};
    const char *what = call->what;
    if (call->whose)
        buf_puts(&caller, call->whose);
    else if (!call->outer)
        task_describe(&script->tasks, &caller, &trigger);
    if (strncmp(what, "a ", 2) == 0) what += 2;
    if (strncmp(what, "an ", 3) == 0) what += 3;
    if (what != call->what) buf_puts(out, "the ");
    buf_puts(out, what);
    bool named = !call->whose || strcmp(what, "rule") == 0; /* else of the owner */
    bool plain = named && strchr(buf_text(&caller), ' ') == NULL;
    if (caller.len > 0 && strcmp(buf_text(&caller), what) != 0)
        buf_printf(out, "%s%s", plain ? " " : " of ", buf_text(&caller));
    buf_clear(&caller);
    buf_clear(&trigger);
}

/* Records the place of the call before it unwinds. `L` NULL: no script is running. */
static void report(struct script *script, lua_State *L)
{
    struct budget *b = &script->budget;
    b->reported = true;
    failure_note_place(L, &b->failure);
    if (b->failure.line) buf_printf(&b->failure.text, "%s:%d: ", b->failure.source, b->failure.line);
    buf_printf(&b->failure.text, "over the limit %s (", limit_name(b->over_limit));
    limit_describe(b->over_limit, script->limits.values[b->over_limit], &b->failure.text);
    buf_puts(&b->failure.text, b->over_limit == LIMIT_PIECE_CPU ? ") in one piece of " : ") in ");
    put_call(script, b->over, &b->failure.text);
    /* Garbage cannot explain the excess then: name the cause that a script's author would not suspect. */
    if (b->over_limit == LIMIT_SCRIPT_MEMORY && script->retained.bytes > script->heap.limit / 4) {
        buf_printf(&b->failure.text, "; %zu KiB of it are held by objects that are no longer in a cache",
                   script->retained.bytes >> 10);
    }
}

/* --- the hook */

enum { EACH_INSTRUCTION = 1 };

static void on_count(lua_State *L, lua_Debug *ar);

/* LuaJIT updates its dispatch table when the first hook is set and the last one removed, and is not reentrant
 * there. A signal that comes meanwhile does nothing: the next one is 4 ms away. */
static void set_hook(struct script *script, int every)
{
    struct budget *b = &script->budget;
    if (b->setting) return;
    b->setting = true;
    atomic_signal_fence(memory_order_seq_cst);
    b->every = every;
    lua_sethook(script->L, every ? on_count : NULL, every ? LUA_MASKCOUNT : 0, every);
    atomic_signal_fence(memory_order_seq_cst);
    b->setting = false;
}

void budget_arm(struct script *script)
{
    if (!script->trusted) set_hook(script, EACH_INSTRUCTION);
}

/* Restores the normal hook: none with a watch, unless the script is brief, else the counting one. */
static void disarm(struct script *script)
{
    int rest = script->host->watch || script->trusted ? 0 : BUDGET_INSTRUCTIONS;
    if (script->brief) rest = BUDGET_BRIEF_INSTRUCTIONS;
    if (script->budget.every != rest) set_hook(script, rest);
}

static void set_over(struct budget *b, struct budget_call *call, enum limit limit)
{
    b->over_limit = limit;
    b->over = call;
    b->stop = true;
}

/* Since it began or went on after a pause. Can be negative: a collection during which the clock started has
 * excused more time than has passed. */
static int64_t unpaused_ns(const struct budget_call *call, int64_t now)
{
    int64_t taken = now - call->begun_ns - call->excused_ns;
    return taken > 0 ? taken : 0;
}

static int64_t taken_ns(const struct budget_call *call, int64_t now)
{
    return call->earlier_ns + unpaused_ns(call, now);
}

/* A call that should have paused long ago: a function of C works, or calls the script's code, and no pause
 * passes through it. Below PIECE_LEAST_MS it may have had no chance to pause. */
static bool is_stuck(const struct script *script, const struct budget_call *call, int64_t now)
{
    int64_t most_ms = script->limits.values[LIMIT_PIECE_CPU], ms = unpaused_ns(call, now) / NS_PER_MS;
    return script->budget.pauses && !call->outer && !script->brief && ms > PIECE_LEAST_MS && ms > most_ms;
}

/* Finds a call over its limit, the innermost first, as an outer one may be fine without it. Returns whether
 * one will exceed its limit before the next check. */
static bool check_calls(struct script *script)
{
    struct budget *b = &script->budget;
    const int64_t until_next_ns = 3 * CPU_WATCH_MS * INT64_C(1000000); /* a kernel's tick may take 10 ms */
    int64_t now = clock_thread_ns();
    bool near = false;
    for (struct budget_call *call = b->call; call; call = call->outer) {
        /* The clock of a call starts at the first check: most calls end before it, and never read the
         * clock. */
        if (!call->begun_ns) call->begun_ns = now;
        int64_t left_ns = call->limit_ns - taken_ns(call, now);
        near = near || left_ns < until_next_ns;
        if (!b->over && left_ns < 0) set_over(b, call, call->limit);
        if (b->over || !is_stuck(script, call, now)) continue;
        set_over(b, call, LIMIT_PIECE_CPU);
    }
    return near;
}

void budget_raise(lua_State *L)
{
    struct script *script = script_of(L);
    struct budget *b = &script->budget;
    if (!b->over) return;
    if (!b->reported) report(script, L);
    /* A pcall of the script catches this error and goes on: the hook raises it again at the next instruction,
     * until the engine's own call has ended. */
    if (b->every != EACH_INSTRUCTION) budget_arm(script);
    lua_pushlstring(L, b->failure.text.data, b->failure.text.len);
    lua_error(L);
}

/* Takes the hook away first: the pause leaves it. */
static void pause_call(lua_State *L)
{
    struct script *script = script_of(L);
    const struct budget_call *call = script->budget.call;
    script->budget.pause = false;
    if (!script->budget.pauses || call->outer) return;
    disarm(script);
    script->budget.pauses(L, taken_ns(call, clock_thread_ns()));
}

/* Only the call of the engine pauses, not what it calls under a limit of its own. */
static bool pause_is_due(const struct script *script)
{
    const int64_t after_ns =
        script->brief ? PIECE_BRIEF_US * INT64_C(1000) : BUDGET_PAUSE_MS * INT64_C(1000000);
    const struct budget *b = &script->budget;
    const struct budget_call *call = b->call;
    return b->pauses && call && !call->outer && !b->over && clock_thread_ns() - call->begun_ns >= after_ns;
}

static void on_count(lua_State *L, lua_Debug *ar)
{
    struct script *script = script_of(L);
    /* The collection comes first: a call over the memory limit may be fine after it. */
    memory_on_hook(L);
    if (!script->budget.over) check_calls(script);
    budget_raise(L);
    if (script->budget.pause || (script->brief && pause_is_due(script))) pause_call(L);
    /* Was set for a collection only, which has run. */
    if (script->budget.every == EACH_INSTRUCTION) disarm(script);
}

/* Sets the hook again on each tick after a limit was exceeded: the last signal may have come while Lua wrote
 * the same fields, and so was lost. */
void budget_tick(struct script *script)
{
    if (script->trusted || script->budget.rests) return;
    bool near = !script->budget.over && check_calls(script);
    if (pause_is_due(script)) {
        script->budget.pause = true;
        budget_arm(script);
        return;
    }
    if (script->budget.over)
        budget_arm(script);
    else if (near && !script->budget.every)
        set_hook(script, BUDGET_INSTRUCTIONS);
}

void budget_exceed(struct script *script, enum limit limit)
{
    struct budget *b = &script->budget;
    /* The first limit exceeded is the one to report; without a call in flight there is nothing to end. */
    if (b->over || !b->call) return;
    set_over(b, b->call, limit);
    budget_arm(script);
}

void budget_exceed_at(struct script *script, lua_State *L, enum limit limit)
{
    if (script->budget.over || !script->budget.call) return;
    budget_exceed(script, limit);
    /* Record the line now: Lua unwinds a refused allocation without a message handler. */
    if (L) report(script, L);
}

int64_t budget_rest(struct script *script)
{
    script->budget.rests = true;
    return clock_thread_ns();
}

/* Time before a call's clock started was never counted. */
void budget_resume(struct script *script, int64_t since_ns)
{
    int64_t ns = clock_thread_ns() - since_ns;
    for (struct budget_call *call = script->budget.call; call; call = call->outer) {
        if (!call->begun_ns) continue;
        call->excused_ns += ns;
        /* Excuses extend a call by its own limit at most: a script that only causes collections must end
         * too. */
        if (call->excused_ns > call->limit_ns) call->excused_ns = call->limit_ns;
    }
    script->budget.rests = false;
}

/* --- calls */

void budget_open(struct script *script)
{
    disarm(script);
}

void budget_close(struct script *script)
{
    failure_clear(&script->budget.failure);
}

void budget_enter(struct script *script, struct budget_call *call, enum limit limit, const char *what,
                  const char *whose)
{
    int64_t ms = script->limits.values[limit];
    *call = (struct budget_call){
        .outer = script->budget.call,
        .what = what,
        .whose = whose,
        .limit = limit,
        /* A trusted script runs with JIT, where no hook could enforce a limit. */
        .limit_ns = script->trusted || ms > INT64_MAX / NS_PER_MS ? INT64_MAX : ms * NS_PER_MS,
    };
    if (script->brief) call->begun_ns = clock_thread_ns();
    /* The signal of the CPU watch walks the calls: it may see a call only when it is complete. */
    atomic_signal_fence(memory_order_release);
    script->budget.call = call;
}

void budget_note(struct script *script)
{
    if (script->budget.over && !script->budget.reported) report(script, NULL);
}

static enum script_result result_of(enum limit limit)
{
    return limit == LIMIT_SCRIPT_MEMORY ? SCRIPT_MEMORY_LIMIT : SCRIPT_CPU_LIMIT;
}

/* Records the failure if the limit was exceeded so late that no instruction has raised it. A task that yields
 * goes on: its next resume has a budget of its own. */
enum script_result budget_leave(struct script *script, struct budget_call *call, enum script_result result)
{
    struct budget *b = &script->budget;
    struct budget_call *over = b->over;
    if (over && result != SCRIPT_YIELDED) {
        budget_note(script);
        failure_copy(&script->failure, &b->failure);
        result = result_of(b->over_limit);
    }
    b->call = call->outer;
    atomic_signal_fence(memory_order_release);
    /* An outer call is over its limit: it goes on unwinding. */
    if (over && over != call) return result;
    b->over = NULL;
    b->stop = false;
    b->reported = false;
    b->pause = false;
    b->pauses = NULL;
    disarm(script);
    return result;
}

/* --- The budget of long C functions */

void steps_init(struct steps *steps, lua_State *L)
{
    *steps = (struct steps){.L = L, .left = STEPS_TURN};
}

void steps_check(struct steps *steps)
{
    struct script *script = script_of(steps->L);
    steps->left = STEPS_TURN;
    budget_tick(script);
    budget_poll(steps->L, script);
}
