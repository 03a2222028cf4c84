/* A candidate takes over from the generation that runs, or is the first; see reload_internal.h. */
#include "engine/reload/reload_internal.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "engine/reload/managed_script.h"
#include "engine/reload/reload.h"
#include "script/generation/handover.h"
#include "script/vm/bundle.h"

static const struct slots_hooks *hooks_of(const struct slot *slot)
{
    return &slot->slots->options.hooks;
}

static void count(const struct slot *slot, enum reload_result result)
{
    reload_metrics_ended(slot->slots->metrics, result);
}

static void note_pause(struct slot *slot, int64_t begun_ns)
{
    int64_t took_ns = clock_measure_ns() - begun_ns;
    slot->pause_us = (uint64_t)(took_ns / 1000);
    reload_metrics_activated(slot->slots->metrics, &slot->done, took_ns);
}

static void tell(const struct slot *slot)
{
    const struct handover *done = &slot->done;
    log_info("Reloaded", F("script", slot->name), FI("generation", script_generation(slot->current)),
             F("reason", slot->why), FI("pauseMicroseconds", slot->pause_us), FI("handlersKept", done->kept),
             FI("handlersAdded", done->added), FI("handlersRemoved", done->removed),
             FI("eventsDropped", done->dropped_events), FI("keysDropped", done->dropped_keys),
             FI("timersCancelled", done->cancelled_timers));
}

/* Marks the rolled-back files as refused until they change, unless the rollback led back to what the files
 * contain. */
static void note_return(struct slot *slot)
{
    slot->returned = !bundle_is_current(script_bundle(slot->current), NULL);
    if (slot->returned) {
        slot->refused = bundle_ref(slot->left);
        buf_puts(&slot->left_why, "; the file is ignored until it changes");
        reload_set_error(slot, buf_text(&slot->left_why));
    }
    bundle_unref(slot->left);
    slot->left = NULL;
    log_warn("Rolled back to the previous generation", F("script", slot->name),
             F("reason", buf_text(&slot->left_why)));
}

static void become_current(struct slot *slot, struct script *script)
{
    slot->incoming = NULL;
    slot->current = script;
    slot->made++;
    slot->taken_over_us = clock_wall_us(loop_clock(slot->slots->options.loop));
    slot->waits_for.len = 0;
    timer_cancel(&slot->ready);
    reload_forget_error(slot);
    if (slot->left) note_return(slot);
    hooks_of(slot)->begun(hooks_of(slot)->ctx, script);
}

void reload_start_first(struct slot *slot)
{
    struct err err;
    struct script *script = slot->incoming;
    if (!script_start(script, &err)) {
        reload_refuse(slot, script_bundle(script), err.text);
        return;
    }
    become_current(slot, script);
    hooks_of(slot)->taken(hooks_of(slot)->ctx, NULL, script);
    count(slot, RELOAD_ACTIVATED);
    log_info("Script added", F("script", slot->name), F("path", slot->path));
}

/* The one that runs is not any more what the candidate was compared with. */
static void load_again(struct slot *slot)
{
    struct bundle *bundle = bundle_ref(script_bundle(slot->incoming)), *left = slot->left;
    int64_t refuse_ms = slot->refuse_ms;
    slot->left = NULL;
    reload_drop_incoming(slot);
    reload_load(slot, bundle, slot->why);
    /* Loading again does not extend --reload-timeout. */
    slot->refuse_ms = refuse_ms;
    if (slot->incoming)
        slot->left = left;
    else
        bundle_unref(left);
    bundle_unref(bundle);
}

/* A transform or an index function was over its limits while the first lists came: its cache is of no use. */
static bool refuse_quarantined(struct slot *slot, struct buf *quarantined)
{
    struct buf why = {0};
    probation_find_new(slot->incoming, quarantined, &why);
    bool found = why.len > 0;
    if (found) {
        char *text = xasprintf("%s: %s", slot->path, buf_text(&why));
        reload_refuse(slot, script_bundle(slot->incoming), text);
        free(text);
    }
    buf_clear(&why);
    return found;
}

/* A parameter of the operator's would be of no rule any more. */
static bool refuse_params(struct slot *slot)
{
    struct err err;
    if (hooks_of(slot)->params_stay(hooks_of(slot)->ctx, slot, &err)) return false;
    reload_refuse(slot, script_bundle(slot->incoming), err.text);
    return true;
}

void reload_activate(struct slot *slot)
{
    struct err err;
    struct script *old = slot->current, *new_ = slot->incoming;
    struct buf quarantined = {0};
    int64_t begun_ns = clock_measure_ns();
    probation_snapshot(old, &quarantined);
    if (refuse_quarantined(slot, &quarantined) || refuse_params(slot)) {
        buf_clear(&quarantined);
        return;
    }
    if (!script_handover(old, new_, &slot->done, &err)) {
        buf_clear(&quarantined);
        if (err.code == ERR_OUTDATED)
            load_again(slot);
        else
            reload_refuse(slot, script_bundle(new_), err.text);
        return;
    }
    hooks_of(slot)->taken(hooks_of(slot)->ctx, old, new_);
    note_pause(slot, begun_ns);
    bool returned = slot->left != NULL;
    bundle_unref(slot->before);
    /* A rollback loads these sources, whatever the files contain by then. */
    slot->before = bundle_ref(script_bundle(old));
    slot->previous_number = script_generation(old);
    slot->previous_us = slot->taken_over_us;
    probation_begin(slot, old, &quarantined);
    buf_clear(&quarantined);
    become_current(slot, new_);
    /* k8s.main runs once in the life of a script, not once in each generation. */
    if (slot->main_started) script_skip_main(new_);
    managed_script_drain(slot, old);
    count(slot, returned ? RELOAD_ROLLED_BACK : RELOAD_ACTIVATED);
    tell(slot);
}
