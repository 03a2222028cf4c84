/* Loads changed files as incoming generations, which become ready or are refused; see reload.h. */
#include "engine/reload/reload.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/mem.h"
#include "engine/reload/managed_script.h"
#include "engine/reload/reload_internal.h"
#include "kube/kinds/resource.h"
#include "script/generation/handover.h"
#include "script/vm/bundle.h"

/* Poll period of incoming generations; callbacks of informers and discovery shorten it. */
enum { CHECK_MS = 50, LOADING_MS = 5 };

static struct clock *clock_of(const struct managed_script *managed)
{
    return loop_clock(managed->scripts->options.loop);
}

/* --- end of an incoming generation */

void reload_drop_incoming(struct managed_script *managed)
{
    timer_cancel(&managed->ready);
    managed->waits_for.len = managed->unknown.len = 0;
    managed->refreshed = false;
    bundle_unref(managed->rollback_of);
    managed->rollback_of = NULL;
    if (managed->incoming) managed_script_drop(managed->scripts, managed->incoming);
    managed->incoming = NULL;
    script_free(managed->loading);
    managed->loading = NULL;
}

void reload_set_error(struct managed_script *managed, const char *text)
{
    managed->error.len = 0;
    buf_puts(&managed->error, text);
    managed->error_us = clock_wall_us(clock_of(managed));
}

void reload_forget_error(struct managed_script *managed)
{
    bundle_unref(managed->refused);
    managed->refused = NULL;
    managed->error.len = 0;
    managed->error_us = 0;
    managed->rolled_back = managed->lacks_params = false;
}

void reload_refuse(struct managed_script *managed, struct bundle *bundle, const char *text)
{
    /* Referenced first: dropping the incoming generation may free it. */
    struct bundle *refused = bundle_ref(bundle);
    reload_drop_incoming(managed);
    reload_forget_error(managed);
    managed->refused = refused;
    reload_set_error(managed, text);
    reload_metrics_ended(managed->scripts->metrics, RELOAD_REFUSED);
    log_error("Reload refused, the previous generation keeps running", F("script", managed->name),
              FI("generation", managed->running ? script_generation(managed->running) : 0), F("err", text));
}

/* --- waiting */

/* Appends the reason why the incoming generation must wait; nothing if it is ready. */
static void describe_wait(struct managed_script *managed, struct buf *out)
{
    struct informer_claim *claim = NULL;
    if (!managed->running) return; /* nothing to replace: do not wait */
    size_t lagging = script_lagging_claims(managed->running, managed->incoming, &claim);
    if (lagging > 0) {
        claim_describe_lag(claim, out);
        if (out->len == 0) buf_puts(out, "an informer to sync");
        if (lagging > 1) buf_printf(out, ", and %zu more", lagging - 1);
        return;
    }
    managed->builds = !script_build_indexes(managed->incoming);
    if (managed->builds) {
        buf_puts(out, "its indexes to be built");
        return;
    }
    managed->builds = !script_copy_state(managed->running, managed->incoming);
    if (managed->builds) buf_puts(out, "its state to be copied");
}

void reload_refuse_waiting(struct managed_script *managed, const char *why)
{
    if (!managed->incoming) return;
    char *text = xasprintf("%s: %s: %s", managed->path, why, buf_text(&managed->waits_for));
    reload_refuse(managed, script_bundle(managed->incoming), text);
    free(text);
}

/* Returns whether a claim still waits for discovery. A suspended claim counts only if its bare name may be
 * misspelt; with rules it is of a kind that the server lacks, which is allowed. */
static bool is_unresolved(const struct managed_scripts *scripts, const struct script *script)
{
    for (size_t i = 0; i < script_claim_count(script); i++) {
        const struct informer_claim *claim = script_claim(script, i);
        if (claim_is_suspended(claim) &&
            (scripts->options.host->runs_rules || resource_name_has_group(str_of(claim_spec(claim)->kind))))
            continue;
        if (!claim_is_resolved(claim) && !script_claim_may_lag(script, claim)) return true;
    }
    return false;
}

static void refuse_unknown(struct managed_script *managed)
{
    char *text = xstrdup(buf_text(&managed->unknown));
    reload_refuse(managed, script_bundle(managed->incoming), text);
    free(text);
}

/* Resolves kinds by the known catalogue, and once more after a refresh: a CRD may be newer than the
 * catalogue. Each incoming generation refreshes discovery once, or a wrong name would cause endless
 * requests. */
static void check_kinds(struct managed_script *managed)
{
    const struct managed_scripts_hooks *hooks = &managed->scripts->options.hooks;
    if (!is_unresolved(managed->scripts, managed->incoming)) return;
    if (!managed->refreshed) hooks->resolve_kinds(hooks->ctx);
    if (managed->unknown.len == 0 || managed->refreshed) return;
    managed->refreshed = true;
    managed->unknown.len = 0;
    hooks->refresh_kinds(hooks->ctx);
}

static void refuse_late(struct managed_script *managed)
{
    char reason[64];
    snprintf(reason, sizeof reason, "not ready within %s", managed->scripts->options.timeout_name);
    reload_refuse_waiting(managed, reason);
}

/* Makes a loaded script the incoming generation; refuses one that failed. */
static void end_loading(struct managed_script *managed)
{
    struct script *script = managed->loading;
    struct err err;
    managed->loading = NULL;
    managed->waits_for.len = 0;
    if (script_end_loading(script, &err)) {
        managed_script_adopt(managed->scripts, script);
        managed->incoming = script;
        return;
    }
    struct bundle *bundle = bundle_ref(script_bundle(script));
    script_free(script);
    reload_refuse(managed, bundle, err.text);
    bundle_unref(bundle);
}

/* A chunk that takes long runs in turns of its script. */
static void await_loading(struct managed_script *managed)
{
    if (script_is_loading(managed->loading)) {
        timer_start(&managed->ready, clock_of(managed), LOADING_MS);
        return;
    }
    end_loading(managed);
    reload_watch_files(managed->scripts); /* also the modules that it loaded since the scan */
}

void reload_on_ready(struct timer *timer)
{
    struct managed_script *managed = container_of(timer, struct managed_script, ready);
    if (managed->loading) await_loading(managed);
    if (!managed->incoming) return;
    check_kinds(managed);
    if (managed->refreshed && managed->unknown.len) {
        refuse_unknown(managed);
        return;
    }
    managed->waits_for.len = 0;
    managed->builds = false;
    if (is_unresolved(managed->scripts, managed->incoming))
        buf_puts(&managed->waits_for, "discovery");
    else
        describe_wait(managed, &managed->waits_for);
    if (managed->waits_for.len > 0 && !managed->builds) script_drop_state(managed->incoming);
    if (managed->waits_for.len == 0 && managed->running)
        reload_activate(managed);
    else if (managed->waits_for.len == 0)
        reload_start_first(managed);
    else if (clock_now_ms(clock_of(managed)) >= managed->refuse_ms)
        refuse_late(managed);
    else
        /* Building goes on in the next turn; checking more often would speed up nothing else. */
        timer_start(timer, clock_of(managed), managed->builds ? 0 : CHECK_MS);
}

void reload_unknown_kind(struct managed_script *managed, const char *text)
{
    managed->unknown.len = 0;
    buf_puts(&managed->unknown, text);
}

void reload_check_soon(struct managed_scripts *scripts)
{
    for (size_t i = 0; i < scripts->count; i++) {
        struct managed_script *managed = scripts->items[i];
        if (!managed->incoming || scripts->ending) continue;
        timer_cancel(&managed->ready);
        timer_start(&managed->ready, clock_of(managed), 0);
    }
}

void reload_end(struct managed_scripts *scripts)
{
    timer_cancel(&scripts->rescan);
    for (size_t i = 0; i < scripts->count; i++) reload_drop_incoming(scripts->items[i]);
}

/* --- beginning */

void reload_load(struct managed_script *managed, struct bundle *bundle, const char *why)
{
    struct err err;
    managed->tried++;
    managed->why = why;
    /* The timeout begins before the load, which is part of the wait. */
    managed->began_us = clock_wall_us(clock_of(managed));
    managed->refuse_ms = clock_now_ms(clock_of(managed)) + managed->scripts->options.reload_timeout_ms;
    managed->loading = managed_script_begin_load(managed, bundle, &err);
    if (!managed->loading) {
        reload_refuse(managed, bundle, err.text);
        return;
    }
    if (script_is_loading(managed->loading))
        buf_puts(&managed->waits_for, "its load phase");
    else
        end_loading(managed);
    if (managed->loading || managed->incoming) timer_start(&managed->ready, clock_of(managed), 0);
}

/* Returns whether an empty file may be filled soon: an editor that writes in place truncates the file first,
 * and an empty script would be activated and lose all state. */
static bool may_be_filled(struct managed_script *managed, enum reload_mode mode)
{
    struct stat st;
    bool empty = managed->running && stat(managed->path, &st) == 0 && st.st_size == 0;
    if (empty) return reload_may_come(managed, &managed->empty_ms, mode);
    managed->empty_ms = 0;
    return false;
}

/* Forgets the last refusal when the files match the running generation again. */
static void take_back(struct managed_script *managed)
{
    if (managed->refused)
        log_info("File matches the running generation again", F("script", managed->name),
                 FI("generation", script_generation(managed->running)));
    reload_forget_error(managed);
}

/* Compares the files with the running generation, and with the latest known alternative: the source of a
 * rollback, else the incoming generation, else the refused one. */
void reload_scan_script(struct managed_script *managed, enum reload_mode mode)
{
    struct bundle *known = managed->rollback_of ? managed->rollback_of
                           : managed->incoming  ? script_bundle(managed->incoming)
                           : managed->loading   ? script_bundle(managed->loading)
                                                : managed->refused;
    bool runs = managed->running && bundle_is_current(script_bundle(managed->running), NULL);
    /* A generation that was rolled back from failed in production: only a forced reload tries it again. */
    enum reload_mode enough = managed->rolled_back ? RELOAD_FORCED : RELOAD_IF_REFUSED;
    bool again = mode >= enough && managed->refused && !managed->incoming && !managed->loading;
    if (managed->gone || may_be_filled(managed, mode)) return;
    if (known && bundle_is_current(known, NULL) && !again) return;
    reload_drop_incoming(managed);
    if (runs) {
        take_back(managed);
        return;
    }
    struct bundle *bundle = bundle_new();
    reload_load(managed, bundle, mode != RELOAD_IF_CHANGED ? "requested" : "changed");
    bundle_unref(bundle);
}

void reload_text(struct managed_script *managed, struct str text)
{
    struct bundle *bundle = bundle_new();
    if (text.p) bundle_set_text(bundle, managed->path, text);
    reload_drop_incoming(managed);
    reload_load(managed, bundle, "given");
    bundle_unref(bundle);
}

bool reload_rollback(struct managed_script *managed, const char *why, struct err *err)
{
    if (!managed->running || !managed->previous)
        return err_set(err, ERR_NOT_FOUND, "%s: no previous generation", managed->name);
    struct bundle *before = bundle_ref(managed->previous);
    reload_drop_incoming(managed);
    managed->rollback_why.len = 0;
    buf_printf(&managed->rollback_why, "%s: generation %llu was rolled back: %s", managed->path,
               (unsigned long long)script_generation(managed->running), why);
    reload_load(managed, before, "returned");
    /* Kept to mark the files as refused later: they still contain what is rolled back. */
    if (managed->incoming || managed->loading)
        managed->rollback_of = bundle_ref(script_bundle(managed->running));
    bundle_unref(before);
    return true;
}
