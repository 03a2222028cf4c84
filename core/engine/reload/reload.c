/* From a changed file to a candidate that may take over, or is refused; see reload.h. */
#include "engine/reload/reload.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/series/series.h"
#include "engine/reload/managed_script.h"
#include "engine/reload/reload_internal.h"
#include "kube/kinds/resource.h"
#include "script/generation/handover.h"
#include "script/vm/bundle.h"

FAMILY(family_reloads, 200, COUNTER, "kubelua_reload_total", "result", NULL,
       "Number of script reloads by result.");
FAMILY(family_reload_pause, 201, HISTOGRAM, "kubelua_reload_pause_seconds", "", &buckets_of_processing,
       "Pause of the engine thread while a new generation is activated.");
FAMILY(family_reload_dropped, 202, COUNTER, "kubelua_reload_dropped_total", "what", NULL,
       "Number of events, keys, timers and calls dropped by reloads.");

enum { LOOK_MS = 50 };

static struct clock *clock_of(const struct slot *slot)
{
    return loop_clock(slot->slots->options.loop);
}

/* --- a candidate that is none */

void reload_drop_incoming(struct slot *slot)
{
    timer_cancel(&slot->ready);
    slot->waits_for.len = slot->unknown.len = 0;
    slot->asked = false;
    bundle_unref(slot->left);
    slot->left = NULL;
    if (slot->incoming) managed_script_drop(slot->slots, slot->incoming);
    slot->incoming = NULL;
}

void reload_set_error(struct slot *slot, const char *text)
{
    slot->error.len = 0;
    buf_puts(&slot->error, text);
    slot->error_us = clock_wall_us(clock_of(slot));
}

void reload_forget_error(struct slot *slot)
{
    bundle_unref(slot->refused);
    slot->refused = NULL;
    slot->error.len = 0;
    slot->error_us = 0;
    slot->returned = false;
}

void reload_refuse(struct slot *slot, struct bundle *bundle, const char *text)
{
    struct bundle *refused = bundle_ref(bundle);
    reload_drop_incoming(slot);
    reload_forget_error(slot);
    slot->refused = refused;
    reload_set_error(slot, text);
    reload_metrics_ended(slot->slots->metrics, RELOAD_REFUSED);
    log_error("Reload refused, the previous generation keeps running", F("script", slot->name),
              FI("generation", slot->current ? script_generation(slot->current) : 0), F("err", text));
}

/* --- waiting */

/* Why the candidate has to wait; nothing: it has not. */
static void describe_wait(struct slot *slot, struct buf *out)
{
    struct informer_claim *claim = NULL;
    if (!slot->current) return; /* nothing is better than what comes */
    size_t lagging = script_lagging_claims(slot->current, slot->incoming, &claim);
    if (lagging > 0) {
        claim_describe_lag(claim, out);
        if (out->len == 0) buf_puts(out, "an informer to sync");
        if (lagging > 1) buf_printf(out, ", and %zu more", lagging - 1);
        return;
    }
    slot->builds = !script_build_indexes(slot->incoming);
    if (slot->builds) buf_puts(out, "its indexes to be built");
}

void reload_refuse_waiting(struct slot *slot, const char *why)
{
    if (!slot->incoming) return;
    char *text = xasprintf("%s: %s: %s", slot->path, why, buf_text(&slot->waits_for));
    reload_refuse(slot, script_bundle(slot->incoming), text);
    free(text);
}

/* A claim that is held is only looked at for a bare name that is a mistake; where rules are asked it is of a
 * kind that the server does without. */
static bool is_unresolved(const struct slots *slots, const struct script *script)
{
    for (size_t i = 0; i < script_claim_count(script); i++) {
        const struct informer_claim *claim = script_claim(script, i);
        if (claim_is_suspended(claim) &&
            (slots->options.host->runs_rules || resource_name_has_group(str_of(claim_spec(claim)->kind))))
            continue;
        if (!claim_is_resolved(claim)) return true;
    }
    return false;
}

static void refuse_unknown(struct slot *slot)
{
    char *text = xstrdup(buf_text(&slot->unknown));
    reload_refuse(slot, script_bundle(slot->incoming), text);
    free(text);
}

/* Kinds are asked for with what is known of the server, then once more with what it says now. */
static void look_at_kinds(struct slot *slot)
{
    const struct slots_hooks *hooks = &slot->slots->options.hooks;
    if (!is_unresolved(slot->slots, slot->incoming)) return;
    if (!slot->asked) hooks->resolve_kinds(hooks->ctx);
    if (slot->unknown.len == 0 || slot->asked) return;
    slot->asked = true;
    slot->unknown.len = 0;
    hooks->refresh_kinds(hooks->ctx);
}

void reload_on_ready(struct timer *timer)
{
    struct slot *slot = container_of(timer, struct slot, ready);
    if (!slot->incoming) return;
    look_at_kinds(slot);
    if (slot->asked && slot->unknown.len) {
        refuse_unknown(slot);
        return;
    }
    slot->waits_for.len = 0;
    slot->builds = false;
    if (is_unresolved(slot->slots, slot->incoming))
        buf_puts(&slot->waits_for, "discovery");
    else
        describe_wait(slot, &slot->waits_for);
    if (slot->waits_for.len == 0 && slot->current)
        reload_activate(slot);
    else if (slot->waits_for.len == 0)
        reload_start_first(slot);
    else if (clock_now_ms(clock_of(slot)) >= slot->refuse_ms)
        reload_refuse_waiting(slot, "not ready within --reload-timeout");
    else
        /* Indexes are built on in the next turn; nothing else goes faster by checking more often. */
        timer_start(timer, clock_of(slot), slot->builds ? 0 : LOOK_MS);
}

void reload_unknown_kind(struct slot *slot, const char *text)
{
    slot->unknown.len = 0;
    buf_puts(&slot->unknown, text);
}

void reload_check_soon(struct slots *slots)
{
    for (size_t i = 0; i < slots->count; i++) {
        struct slot *slot = slots->items[i];
        if (!slot->incoming || slots->ending) continue;
        timer_cancel(&slot->ready);
        timer_start(&slot->ready, clock_of(slot), 0);
    }
}

void reload_end(struct slots *slots)
{
    timer_cancel(&slots->rescan);
    for (size_t i = 0; i < slots->count; i++) reload_drop_incoming(slots->items[i]);
}

/* --- beginning */

void reload_load(struct slot *slot, struct bundle *bundle, const char *why)
{
    struct err err;
    slot->tried++;
    slot->why = why;
    slot->began_us = clock_wall_us(clock_of(slot));
    slot->refuse_ms = clock_now_ms(clock_of(slot)) + slot->slots->options.reload_timeout_ms;
    struct script *script = managed_script_load(slot, bundle, &err);
    if (!script) {
        reload_refuse(slot, bundle, err.text);
        return;
    }
    slot->incoming = script;
    timer_start(&slot->ready, clock_of(slot), 0);
}

/* Returns whether an empty file may be filled soon: an editor that writes in place truncates the file first,
 * and an empty script would be activated and lose all state. */
static bool may_be_filled(struct slot *slot, enum reload_mode mode)
{
    struct stat st;
    bool empty = slot->current && stat(slot->path, &st) == 0 && st.st_size == 0;
    if (empty) return reload_may_come(slot, &slot->empty_ms, mode);
    slot->empty_ms = 0;
    return false;
}

/* The files say again what runs: an edit that was refused, or had yet to take over, is no more. */
static void take_back(struct slot *slot)
{
    if (slot->refused)
        log_info("File matches the running generation again", F("script", slot->name),
                 FI("generation", script_generation(slot->current)));
    reload_forget_error(slot);
}

/* Compares the files with a rollback's origin, else the incoming generation, else the refused one, and with
 * the running one. */
void reload_scan_script(struct slot *slot, enum reload_mode mode)
{
    struct bundle *known = slot->left       ? slot->left
                           : slot->incoming ? script_bundle(slot->incoming)
                                            : slot->refused;
    bool runs = slot->current && bundle_is_current(script_bundle(slot->current), NULL);
    enum reload_mode enough = slot->returned ? RELOAD_FORCED : RELOAD_IF_REFUSED;
    bool again = mode >= enough && slot->refused && !slot->incoming;
    if (slot->gone || may_be_filled(slot, mode)) return;
    if (known && bundle_is_current(known, NULL) && !again) return;
    reload_drop_incoming(slot);
    if (runs) {
        take_back(slot);
        return;
    }
    struct bundle *bundle = bundle_new();
    reload_load(slot, bundle, mode != RELOAD_IF_CHANGED ? "requested" : "changed");
    bundle_unref(bundle);
}

void reload_text(struct slot *slot, struct str text)
{
    struct bundle *bundle = bundle_new();
    if (text.p) bundle_set_text(bundle, slot->path, text);
    reload_drop_incoming(slot);
    reload_load(slot, bundle, "given");
    bundle_unref(bundle);
}

bool reload_rollback(struct slot *slot, const char *why, struct err *err)
{
    if (!slot->current || !slot->before)
        return err_set(err, ERR_NOT_FOUND, "%s: no previous generation", slot->name);
    struct bundle *before = bundle_ref(slot->before);
    reload_drop_incoming(slot);
    slot->left_why.len = 0;
    buf_printf(&slot->left_why, "%s: generation %llu was rolled back: %s", slot->path,
               (unsigned long long)script_generation(slot->current), why);
    reload_load(slot, before, "returned");
    if (slot->incoming) slot->left = bundle_ref(script_bundle(slot->current));
    bundle_unref(before);
    return true;
}

/* --- Counters of reloads */

enum what { EVENTS, KEYS, TIMERS, CALLS, WHATS };

struct reload_metrics {
    struct series *results[RELOAD_RESULTS], *pause, *dropped[WHATS];
};

struct reload_metrics *reload_metrics_new(void)
{
    static const char *const results[] = {"ok", "refused", "returned"};
    static const char *const whats[] = {"event", "key", "timer", "call"};
    struct reload_metrics *m = NEW(struct reload_metrics);
    for (size_t i = 0; i < RELOAD_RESULTS; i++) m->results[i] = SERIES(&family_reloads, results[i]);
    for (size_t i = 0; i < WHATS; i++) m->dropped[i] = SERIES(&family_reload_dropped, whats[i]);
    m->pause = series_new(&family_reload_pause, NULL);
    return m;
}

void reload_metrics_free(struct reload_metrics *m)
{
    if (!m) return;
    for (size_t i = 0; i < RELOAD_RESULTS; i++) series_free(m->results[i]);
    for (size_t i = 0; i < WHATS; i++) series_free(m->dropped[i]);
    series_free(m->pause);
    free(m);
}

void reload_metrics_ended(struct reload_metrics *m, enum reload_result result)
{
    if (m) series_inc(m->results[result]);
}

void reload_metrics_activated(struct reload_metrics *m, const struct handover *done, int64_t pause_ns)
{
    if (!m) return;
    series_observe(m->pause, (double)pause_ns / 1e9);
    series_add(m->dropped[EVENTS], (double)done->dropped_events);
    series_add(m->dropped[KEYS], (double)done->dropped_keys);
    series_add(m->dropped[TIMERS], (double)done->cancelled_timers);
}

void reload_metrics_cancelled(struct reload_metrics *m, uint64_t calls)
{
    if (m) series_add(m->dropped[CALLS], (double)calls);
}
