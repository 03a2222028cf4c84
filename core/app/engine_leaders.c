/* Elections of the engine's scripts, and the end, where leases are given back; see engine_internal.h. */
#include <stdlib.h>
#include <string.h>

#include "app/engine_internal.h"
#include "app/json_out.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"

/* The end looks so often for what it waits for. Of --shutdown-timeout, in hundredths: what calls have to come
 * to their end, and then leases to be given back. */
enum { LOOK_MS = 10, CALLS_PART = 90, LEASES_PART = 5, WHOLE = 100 };

static void on_changed(void *ctx)
{
    struct engine *engine = ctx;
    for (size_t i = 0; i < engine->script_count; i++) script_leadership_changed(engine->scripts[i]);
    monitor_touch(engine->monitor);
}

void engine_make_leaders(struct engine *engine)
{
    char *identity = leader_identity(getenv("POD_NAME"));
    engine->leaders = leaders_new(&(struct leaders_options){
        .engine_loop = engine->loop,
        .io_loop = io_thread_loop(engine->io),
        .call = engine_call,
        .cancel_call = object_call_cancel,
        .changed = on_changed,
        .ctx = engine,
        .identity = identity,
        .seed = hash_bytes(identity, strlen(identity)),
    });
    free(identity);
}

/* A dry run competes with nobody: the lease that it took would be missing to those who really write. */
void engine_start_leaders(struct engine *engine)
{
    size_t leases = leaders_count(engine->leaders);
    if (leases == 0) return;
    engine->competes = engine->host.write_mode == WRITES_SENT;
    if (engine->competes)
        leaders_start(engine->leaders);
    else
        log_info("No election under --dry-run: scripts lead at once", FI("leases", leases));
}

/* --- the end */

static void on_released(void *ctx)
{
    struct engine *engine = ctx;
    timer_cancel(&engine->farewell);
    loop_stop(engine->loop);
}

/* What another leader does from then on may not meet with a write of ours, of whichever call (L-8). */
static void cancel_calls(struct engine *engine)
{
    size_t waiting = 0;
    for (size_t i = 0; i < engine->script_count; i++) {
        waiting += script_waiting_calls(engine->scripts[i]);
        script_cancel_calls(engine->scripts[i]);
    }
    if (waiting > 0) log_warn("Calls were cancelled, as leases are given back", FI("calls", waiting));
}

static void release(struct engine *engine)
{
    struct clock *clock = loop_clock(engine->loop);
    int64_t all_ms = engine->options.options->shutdown_timeout_ms;
    int64_t left_ms = engine->drain_until_ms + all_ms * LEASES_PART / WHOLE - clock_now_ms(clock);
    engine->releasing = true;
    cancel_calls(engine);
    timer_start(&engine->farewell, clock, left_ms > 0 ? left_ms : 0);
    leaders_release(engine->leaders, on_released, engine);
}

void engine_on_farewell(struct timer *timer)
{
    struct engine *engine = container_of(timer, struct engine, farewell);
    struct clock *clock = loop_clock(engine->loop);
    size_t waiting = 0;
    if (engine->releasing) {
        log_warn("A lease was not given back within --shutdown-timeout");
        loop_stop(engine->loop);
        return;
    }
    for (size_t i = 0; i < engine->script_count; i++) waiting += script_stepping_down(engine->scripts[i]);
    if (waiting > 0 && clock_now_ms(clock) < engine->drain_until_ms)
        timer_start(timer, clock, LOOK_MS);
    else if (engine->competes)
        release(engine);
    else
        loop_stop(engine->loop);
}

void engine_step_down(struct engine *engine)
{
    if (!engine->drain_until_ms)
        engine->drain_until_ms = clock_now_ms(loop_clock(engine->loop)) +
                                 engine->options.options->shutdown_timeout_ms * CALLS_PART / WHOLE;
    for (size_t i = 0; i < engine->script_count; i++) {
        if (leaders_count(engine->leaders) > 0) script_stop(engine->scripts[i]);
        script_step_down(engine->scripts[i]);
    }
    engine_on_farewell(&engine->farewell);
}

/* --- status */

static void put_scripts(struct engine *engine, const struct leadership *leadership, struct buf *out)
{
    json_open(out, "scripts", '[');
    for (size_t i = 0; i < engine->script_count; i++)
        if (script_leadership(engine->scripts[i]) == leadership)
            json_text(out, NULL, script_name(engine->scripts[i]));
    json_close(out, ']');
}

void engine_put_leases(struct engine *engine, struct buf *out)
{
    json_open(out, "leases", '[');
    for (size_t i = 0; engine->competes && i < leaders_count(engine->leaders); i++) {
        struct leadership *leadership = leaders_at(engine->leaders, i);
        struct leadership_status status;
        leadership_get_status(leadership, &status);
        json_open(out, NULL, '{');
        json_text(out, "namespace", status.namespace_);
        json_text(out, "name", status.name);
        json_bool(out, "leader", status.leads);
        json_text(out, "identity", status.identity);
        json_text(out, "holder", status.holder);
        json_time(out, "since", status.since_us);
        json_int(out, "transitions", status.transitions);
        json_text(out, "cause", status.error);
        put_scripts(engine, leadership, out);
        json_close(out, '}');
    }
    json_close(out, ']');
}
