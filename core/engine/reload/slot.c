/* Scripts and their generations; see slot.h. */
#include "engine/reload/slot.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "engine/engine_internal.h"
#include "engine/reload/reload_metrics.h"
#include "script/vm/bundle.h"

enum { DRAIN_MS = 10000, DRAIN_LOOK_MS = 50 };

/* Other threads may read a name for as long as the engine lives (running.h). */
static const char *keep_name(struct engine *engine, const char *name)
{
    for (size_t i = 0; i < engine->name_count; i++)
        if (strcmp(engine->names[i], name) == 0) return engine->names[i];
    engine->names = xrealloc(engine->names, (engine->name_count + 1) * sizeof *engine->names);
    return engine->names[engine->name_count++] = xstrdup(name);
}

struct slot *slot_add(struct engine *engine, const char *path, const char *name)
{
    struct slot *slot = NEW(struct slot);
    slot->engine = engine;
    slot->path = keep_name(engine, path);
    slot->name = keep_name(engine, name);
    slot->ready.fn = reload_on_ready;
    slot->drain.fn = slot_on_drain;
    engine->slots = xrealloc(engine->slots, (engine->slot_count + 1) * sizeof(struct slot *));
    engine->slots[engine->slot_count++] = slot;
    return slot;
}

struct slot *slot_find(const struct engine *engine, const char *name)
{
    for (size_t i = 0; i < engine->slot_count; i++)
        if (strcmp(engine->slots[i]->name, name) == 0) return engine->slots[i];
    return NULL;
}

struct slot *slot_of_candidate(const struct engine *engine, const struct script *script)
{
    for (size_t i = 0; i < engine->slot_count; i++)
        if (engine->slots[i]->candidate == script) return engine->slots[i];
    return NULL;
}

static void free_slot(struct slot *slot)
{
    timer_cancel(&slot->ready);
    timer_cancel(&slot->drain);
    bundle_unref(slot->before);
    bundle_unref(slot->refused);
    buf_clear(&slot->error);
    probation_clear(&slot->probation);
    buf_clear(&slot->unknown);
    buf_clear(&slot->left_why);
    bundle_unref(slot->left);
    buf_clear(&slot->waits_for);
    series_free(slot->memory);
    series_free(slot->load);
    series_free(slot->generation);
    series_free(slot->is_refused);
    free(slot);
}

void slot_remove(struct slot *slot)
{
    struct engine *engine = slot->engine;
    size_t i = 0;
    while (i < engine->slot_count && engine->slots[i] != slot) i++;
    must(i < engine->slot_count);
    memmove(&engine->slots[i], &engine->slots[i + 1], (--engine->slot_count - i) * sizeof(struct slot *));
    free_slot(slot);
}

struct script *slot_load(struct slot *slot, struct bundle *bundle, struct err *err)
{
    struct engine *engine = slot->engine;
    const struct script_source source = {.path = slot->path,
                                         .name = slot->name,
                                         .bundle = bundle,
                                         .generation = slot->made + 1,
                                         .before = slot->current};
    struct script *script = script_prepare(&engine->host, &source, err);
    if (!script) return NULL;
    engine->scripts = xrealloc(engine->scripts, (engine->script_count + 1) * sizeof(struct script *));
    engine->scripts[engine->script_count++] = script;
    return script;
}

void slot_drop(struct engine *engine, struct script *script)
{
    size_t i = 0;
    while (i < engine->script_count && engine->scripts[i] != script) i++;
    must(i < engine->script_count);
    memmove(&engine->scripts[i], &engine->scripts[i + 1],
            (--engine->script_count - i) * sizeof(struct script *));
    script_free(script);
}

/* --- running out */

void slot_drain(struct slot *slot, struct script *script)
{
    struct engine *engine = slot->engine;
    struct clock *clock = loop_clock(engine->loop);
    engine->draining = xrealloc(engine->draining, (engine->draining_count + 1) * sizeof *engine->draining);
    engine->draining[engine->draining_count++] =
        (struct draining){script, slot, clock_now_ms(clock) + DRAIN_MS};
    timer_start(&slot->drain, clock, 0);
}

size_t slot_draining_count(const struct slot *slot)
{
    size_t count = 0;
    for (size_t i = 0; i < slot->engine->draining_count; i++) count += slot->engine->draining[i].slot == slot;
    return count;
}

/* True when it is gone. */
static bool end_draining(struct engine *engine, const struct draining *d)
{
    size_t calls = script_waiting_calls(d->script);
    if (calls > 0 && clock_now_ms(loop_clock(engine->loop)) < d->until_ms) return false;
    if (calls > 0)
        log_warn("Calls of an old generation were cancelled: they did not end within 10 s",
                 F("script", d->slot->name), FI("generation", script_generation(d->script)),
                 FI("calls", calls));
    if (calls > 0 && script_main_state(d->script) == SCRIPT_MAIN_RUNNING)
        log_warn("k8s.main was cancelled with them, and does not run again: what goes on belongs in a timer",
                 F("script", d->slot->name));
    reload_metrics_cancelled(engine->reload_metrics, calls);
    if (d->slot->current) script_add_counters(d->slot->current, d->script);
    slot_drop(engine, d->script);
    return true;
}

void slot_on_drain(struct timer *timer)
{
    struct slot *slot = container_of(timer, struct slot, drain);
    struct engine *engine = slot->engine;
    for (size_t i = engine->draining_count; i-- > 0;) {
        if (engine->draining[i].slot != slot || !end_draining(engine, &engine->draining[i])) continue;
        memmove(&engine->draining[i], &engine->draining[i + 1],
                (--engine->draining_count - i) * sizeof *engine->draining);
    }
    if (slot_draining_count(slot) > 0)
        timer_start(timer, loop_clock(engine->loop), DRAIN_LOOK_MS);
    else if (slot->gone) {
        slot_remove(slot);
        reload_look(engine, RELOAD_IF_CHANGED); /* a file of that name may have come meanwhile */
    }
}

void slots_clear(struct engine *engine)
{
    /* Those that were made last refer to those before them. */
    while (engine->script_count > 0) slot_drop(engine, engine->scripts[engine->script_count - 1]);
    for (size_t i = 0; i < engine->slot_count; i++) free_slot(engine->slots[i]);
    for (size_t i = 0; i < engine->name_count; i++) free(engine->names[i]);
    free(engine->scripts);
    free(engine->slots);
    free(engine->names);
    free(engine->draining);
}
