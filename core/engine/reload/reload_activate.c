/* Activates incoming generations; see reload_internal.h. */
#include "engine/reload/reload_internal.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "engine/reload/managed_script.h"
#include "engine/reload/reload.h"
#include "script/generation/handover.h"
#include "script/vm/bundle.h"

static const struct managed_scripts_hooks *hooks_of(const struct managed_script *managed)
{
    return &managed->scripts->options.hooks;
}

static void count(const struct managed_script *managed, enum reload_result result)
{
    reload_metrics_ended(managed->scripts->metrics, result);
}

static void note_pause(struct managed_script *managed, int64_t begun_ns)
{
    int64_t took_ns = clock_measure_ns() - begun_ns;
    managed->pause_us = (uint64_t)(took_ns / 1000);
    reload_metrics_activated(managed->scripts->metrics, &managed->done, took_ns);
}

static void log_activated(const struct managed_script *managed)
{
    const struct handover *done = &managed->done;
    log_info("Reloaded", F("script", managed->name), FI("generation", script_generation(managed->running)),
             F("reason", managed->why), FI("pauseMicroseconds", managed->pause_us),
             FI("handlersKept", done->kept), FI("handlersAdded", done->added),
             FI("handlersRemoved", done->removed), FI("eventsDropped", done->dropped_events),
             FI("keysDropped", done->dropped_keys), FI("timersCancelled", done->cancelled_timers));
}

/* Marks the files as refused until they change, unless they contain what was rolled back to. */
static void note_return(struct managed_script *managed)
{
    managed->rolled_back = !bundle_is_current(script_bundle(managed->running), NULL);
    if (managed->rolled_back) {
        managed->refused = bundle_ref(managed->rollback_of);
        buf_puts(&managed->rollback_why, "; the file is ignored until it changes");
        reload_set_error(managed, buf_text(&managed->rollback_why));
    }
    bundle_unref(managed->rollback_of);
    managed->rollback_of = NULL;
    log_warn("Rolled back to the previous generation", F("script", managed->name),
             F("reason", buf_text(&managed->rollback_why)));
}

static void become_current(struct managed_script *managed, struct script *script)
{
    managed->incoming = NULL;
    managed->running = script;
    managed->made++;
    managed->activated_us = clock_wall_us(loop_clock(managed->scripts->options.loop));
    managed->waits_for.len = 0;
    timer_cancel(&managed->ready);
    reload_forget_error(managed);
    if (managed->rollback_of) note_return(managed);
    hooks_of(managed)->now_running(hooks_of(managed)->ctx, script);
}

/* A generation that runs now may declare what others were refused for. */
static void try_refused_params(struct managed_scripts *scripts)
{
    for (size_t i = 0; i < scripts->count; i++)
        if (scripts->items[i]->lacks_params) reload_scan_script(scripts->items[i], RELOAD_IF_REFUSED);
}

void reload_start_first(struct managed_script *managed)
{
    struct err err;
    struct script *script = managed->incoming;
    if (!script_start(script, &err)) {
        reload_refuse(managed, script_bundle(script), err.text);
        return;
    }
    become_current(managed, script);
    hooks_of(managed)->activated(hooks_of(managed)->ctx, NULL, script);
    count(managed, RELOAD_ACTIVATED);
    log_info("Script added", F("script", managed->name), F("path", managed->path));
    try_refused_params(managed->scripts);
}

/* Loads the incoming generation again: what it was compared with at its load is no longer running. */
static void load_again(struct managed_script *managed)
{
    struct bundle *bundle = bundle_ref(script_bundle(managed->incoming)), *left = managed->rollback_of;
    int64_t refuse_ms = managed->refuse_ms;
    managed->rollback_of = NULL;
    reload_drop_incoming(managed);
    reload_load(managed, bundle, managed->why);
    /* Loading again does not extend the reload timeout: a script that is always outdated must end. */
    managed->refuse_ms = refuse_ms;
    if (managed->incoming || managed->loading)
        managed->rollback_of = left;
    else
        bundle_unref(left);
    bundle_unref(bundle);
}

/* Refuses an incoming generation whose transform or index function exceeded limits during the sync: its cache
 * is useless. */
static bool refuse_quarantined(struct managed_script *managed, struct buf *quarantined)
{
    struct buf why = {0};
    probation_find_new(managed->incoming, quarantined, &why);
    bool found = why.len > 0;
    if (found) {
        char *text = xasprintf("%s: %s", managed->path, buf_text(&why));
        reload_refuse(managed, script_bundle(managed->incoming), text);
        free(text);
    }
    buf_clear(&why);
    return found;
}

/* Refuses an incoming generation that leaves a parameter without a script. */
static bool refuse_params(struct managed_script *managed)
{
    struct err err;
    if (hooks_of(managed)->params_stay(hooks_of(managed)->ctx, managed, &err)) return false;
    reload_refuse(managed, script_bundle(managed->incoming), err.text);
    managed->lacks_params = true;
    return true;
}

void reload_activate(struct managed_script *managed)
{
    struct err err;
    struct script *old = managed->running, *new_ = managed->incoming;
    struct buf quarantined = {0};
    int64_t begun_ns = clock_measure_ns();
    /* All checks come before the handover, which cannot be undone once it has succeeded. */
    probation_snapshot(old, &quarantined);
    if (refuse_quarantined(managed, &quarantined) || refuse_params(managed)) {
        buf_clear(&quarantined);
        return;
    }
    if (!script_handover(old, new_, &managed->done, &err)) {
        buf_clear(&quarantined);
        if (err.code == ERR_OUTDATED)
            load_again(managed);
        else
            reload_refuse(managed, script_bundle(new_), err.text);
        return;
    }
    /* Tells the continuous audit while both generations exist: it moves results from one to the other. */
    hooks_of(managed)->activated(hooks_of(managed)->ctx, old, new_);
    note_pause(managed, begun_ns);
    bool returned = managed->rollback_of != NULL;
    bundle_unref(managed->previous);
    /* Keeps the sources, not the path: a rollback loads them whatever the files contain by then. */
    managed->previous = bundle_ref(script_bundle(old));
    managed->previous_number = script_generation(old);
    managed->previous_us = managed->activated_us;
    /* Before become_current: the probation reads `rollback_of`, which that clears. A rollback is not on
     * probation itself, or two bad generations would alternate. */
    probation_begin(managed, old, &quarantined);
    buf_clear(&quarantined);
    become_current(managed, new_);
    if (managed->main_ran)
        script_skip_main(new_);
    else
        managed->main_started = false; /* a main that the script did not have before is to run */
    /* The old generation goes last: everything that refers to it has been moved. */
    managed_script_drain(managed, old);
    count(managed, returned ? RELOAD_ROLLED_BACK : RELOAD_ACTIVATED);
    log_activated(managed);
    try_refused_params(managed->scripts);
}
