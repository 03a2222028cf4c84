/* Elections of scripts, and release of leases at the end; see engine_internal.h. */
#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "engine/engine_internal.h"
#include "engine/sink/sinks.h"

/* Poll period of stop functions. */
enum { CHECK_MS = 10 };

void engine_leadership_changed(void *ctx)
{
    struct engine *engine = ctx;
    for (size_t i = 0; i < engine->scripts.generation_count; i++)
        script_leadership_changed(engine->scripts.generations[i]);
    engine_continuous_leadership(engine);
    engine_touch(engine);
}

/* A dry run does not compete: it would take the lease from a process that really writes. */
void engine_start_leaders(struct engine *engine)
{
    size_t leases = leaders_count(engine->cluster->parts.leaders);
    char message[ENGINE_MESSAGE_MAX];
    engine->competes = engine->host.write_mode == WRITES_SENT;
    if (engine->competes)
        leaders_start(engine->cluster->parts.leaders);
    else if (leases > 0) {
        snprintf(message, sizeof message, "Leader election is disabled by %s, all scripts lead",
                 engine->names->dry_run);
        log_info(message, FI("leases", leases));
    }
    engine_continuous_leadership(engine);
}

bool engine_competes(const struct engine *engine)
{
    return engine->competes;
}

/* --- the end */

static void on_released(void *ctx)
{
    struct engine *engine = ctx;
    if (--engine->unreleased > 0) return;
    timer_cancel(&engine->step_down_timer);
    loop_stop(engine->loop);
}

static bool has_leases(const struct engine *engine)
{
    return engine->competes && leaders_count(engine->cluster->parts.leaders) > 0;
}

/* Cancels calls: no write of ours, of any call, may meet those of the next leader (L-8). */
static void cancel_calls(struct engine *engine)
{
    size_t waiting = 0;
    for (size_t i = 0; i < engine->scripts.generation_count; i++) {
        waiting += script_waiting_calls(engine->scripts.generations[i]);
        script_cancel_calls(engine->scripts.generations[i]);
    }
    if (waiting > 0) log_warn("Cancelled calls because leases are being released", FI("calls", waiting));
}

static void release(struct engine *engine)
{
    engine->releasing = true;
    cancel_calls(engine);
    timer_start(&engine->step_down_timer, loop_clock(engine->loop), engine_end_left_ms(engine, END_LEASES));
    engine->unreleased = (unsigned)has_leases(engine) + engine_shares(engine);
    if (has_leases(engine)) leaders_release(engine->cluster->parts.leaders, on_released, engine);
    if (engine_shares(engine)) shards_leave(engine->cluster->parts.shards, on_released, engine);
}

static size_t flush_states(struct engine *engine)
{
    size_t waiting = 0;
    for (size_t i = 0; i < engine->scripts.generation_count; i++)
        waiting += script_flush_states(engine->scripts.generations[i]);
    return waiting;
}

void engine_on_step_down(struct timer *timer)
{
    struct engine *engine = container_of(timer, struct engine, step_down_timer);
    size_t waiting = 0;
    if (engine->releasing) {
        char message[ENGINE_MESSAGE_MAX];
        snprintf(message, sizeof message, "Lease was not released within %s",
                 engine->names->shutdown_timeout);
        log_warn(message);
        loop_stop(engine->loop);
        return;
    }
    for (size_t i = 0; i < engine->scripts.generation_count; i++)
        waiting += script_stepping_down(engine->scripts.generations[i]);
    /* Last, and before another leader may read them. */
    if (waiting == 0) waiting = flush_states(engine);
    bool waits = waiting > 0 && engine_end_left_ms(engine, END_CALLS) > 0;
    /* Scripts that published until their time was over leave some time for what they published. */
    if (!waits && engine->owns_sinks && sinks_flush(engine->sinks) > 0)
        waits = engine_end_left_ms(engine, END_SINKS) > 0;
    if (waits)
        timer_start(timer, loop_clock(engine->loop), CHECK_MS);
    else if (has_leases(engine) || engine_shares(engine))
        release(engine);
    else
        loop_stop(engine->loop);
}

void engine_step_down(struct engine *engine)
{
    engine_begin_end(engine);
    for (size_t i = 0; i < engine->scripts.generation_count; i++) {
        if (leaders_count(engine->cluster->parts.leaders) > 0 || engine_shares(engine))
            script_stop(engine->scripts.generations[i]);
        script_step_down(engine->scripts.generations[i]);
    }
    engine_on_step_down(&engine->step_down_timer);
}
