/* Scripts and their generations; see managed_script.h. */
#include "engine/reload/managed_script.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "engine/reload/reload.h"
#include "engine/reload/reload_internal.h"
#include "engine/reload/script_watch.h"
#include "script/vm/bundle.h"

enum { DRAIN_MS = 10000, DRAIN_LOOK_MS = 50 };

void slots_init(struct slots *slots, const struct slots_options *options)
{
    *slots = (struct slots){.options = *options, .rescan.fn = reload_on_rescan};
}

/* Other threads may read a name for as long as the engine lives (running.h). */
static const char *keep_name(struct slots *slots, const char *name)
{
    for (size_t i = 0; i < slots->name_count; i++)
        if (strcmp(slots->names[i], name) == 0) return slots->names[i];
    slots->names = xrealloc(slots->names, (slots->name_count + 1) * sizeof *slots->names);
    return slots->names[slots->name_count++] = xstrdup(name);
}

struct slot *managed_script_add(struct slots *slots, const char *path, const char *name)
{
    struct slot *slot = NEW(struct slot);
    slot->slots = slots;
    slot->path = keep_name(slots, path);
    slot->name = keep_name(slots, name);
    slot->ready.fn = reload_on_ready;
    slot->drain.fn = managed_script_on_drain;
    *array_add(slots->items, slots->count) = slot;
    return slot;
}

struct slot *managed_script_find(const struct slots *slots, const char *name)
{
    for (size_t i = 0; i < slots->count; i++)
        if (strcmp(slots->items[i]->name, name) == 0) return slots->items[i];
    return NULL;
}

struct slot *managed_script_of_incoming(const struct slots *slots, const struct script *script)
{
    for (size_t i = 0; i < slots->count; i++)
        if (slots->items[i]->incoming == script) return slots->items[i];
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

void managed_script_remove(struct slot *slot)
{
    struct slots *slots = slot->slots;
    size_t i = 0;
    while (i < slots->count && slots->items[i] != slot) i++;
    must(i < slots->count);
    memmove(&slots->items[i], &slots->items[i + 1], (--slots->count - i) * sizeof(struct slot *));
    free_slot(slot);
}

struct script *managed_script_load(struct slot *slot, struct bundle *bundle, struct err *err)
{
    struct slots *slots = slot->slots;
    const struct script_source source = {.path = slot->path,
                                         .name = slot->name,
                                         .bundle = bundle,
                                         .generation = slot->made + 1,
                                         .before = slot->current};
    struct script *script = script_prepare(slots->options.host, &source, err);
    if (!script) return NULL;
    *array_add(slots->scripts, slots->script_count) = script;
    return script;
}

void managed_script_drop(struct slots *slots, struct script *script)
{
    size_t i = 0;
    while (i < slots->script_count && slots->scripts[i] != script) i++;
    must(i < slots->script_count);
    memmove(&slots->scripts[i], &slots->scripts[i + 1],
            (--slots->script_count - i) * sizeof(struct script *));
    script_free(script);
}

/* --- running out */

void managed_script_drain(struct slot *slot, struct script *script)
{
    struct slots *slots = slot->slots;
    struct clock *clock = loop_clock(slots->options.loop);
    *array_add(slots->draining, slots->draining_count) =
        (struct draining){script, slot, clock_now_ms(clock) + DRAIN_MS};
    timer_start(&slot->drain, clock, 0);
}

size_t managed_script_draining_count(const struct slot *slot)
{
    size_t count = 0;
    for (size_t i = 0; i < slot->slots->draining_count; i++) count += slot->slots->draining[i].slot == slot;
    return count;
}

/* True when it is gone. */
static bool end_draining(struct slots *slots, const struct draining *d)
{
    size_t calls = script_waiting_calls(d->script);
    if (calls > 0 && clock_now_ms(loop_clock(slots->options.loop)) < d->until_ms) return false;
    if (calls > 0)
        log_warn("Cancelled calls of an old generation that did not finish within 10 s",
                 F("script", d->slot->name), FI("generation", script_generation(d->script)),
                 FI("calls", calls));
    if (calls > 0 && script_main_state(d->script) == SCRIPT_MAIN_RUNNING)
        log_warn("k8s.main was cancelled and will not run again; use a timer for recurring work",
                 F("script", d->slot->name));
    reload_metrics_cancelled(slots->metrics, calls);
    if (d->slot->current) script_add_counters(d->slot->current, d->script);
    managed_script_drop(slots, d->script);
    return true;
}

void managed_script_on_drain(struct timer *timer)
{
    struct slot *slot = container_of(timer, struct slot, drain);
    struct slots *slots = slot->slots;
    for (size_t i = slots->draining_count; i-- > 0;) {
        if (slots->draining[i].slot != slot || !end_draining(slots, &slots->draining[i])) continue;
        memmove(&slots->draining[i], &slots->draining[i + 1],
                (--slots->draining_count - i) * sizeof *slots->draining);
    }
    if (managed_script_draining_count(slot) > 0)
        timer_start(timer, loop_clock(slots->options.loop), DRAIN_LOOK_MS);
    else if (slot->gone) {
        managed_script_remove(slot);
        reload_scan(slots, RELOAD_IF_CHANGED); /* a file of that name may have come meanwhile */
    }
}

void managed_scripts_clear(struct slots *slots)
{
    script_watch_free(slots->watch);
    timer_cancel(&slots->rescan);
    timer_cancel(&slots->probation);
    /* Those that were made last refer to those before them. */
    while (slots->script_count > 0) managed_script_drop(slots, slots->scripts[slots->script_count - 1]);
    for (size_t i = 0; i < slots->count; i++) free_slot(slots->items[i]);
    for (size_t i = 0; i < slots->name_count; i++) free(slots->names[i]);
    free(slots->scripts);
    free(slots->items);
    free(slots->names);
    free(slots->draining);
    reload_metrics_free(slots->metrics);
}
