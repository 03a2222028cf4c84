/* Scripts of the engine: loading, main, and the final summary; see engine_internal.h. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/writer.h"
#include "engine/engine_internal.h"
#include "kube/api/stream.h"
#include "script/params/declared.h"
#include "script/vm/bundle.h"

/* --- loading */

static bool load_first(struct engine *engine, struct managed_script *managed, struct err *err)
{
    struct script *script = managed_script_load(managed, NULL, err);
    if (!script) return false;
    if (!script_start(script, err)) {
        managed_script_drop(&engine->scripts, script);
        return false;
    }
    managed->running = script;
    managed->made++;
    engine_continuous_take(engine, NULL, script);
    if (!engine->options.needs_main || script_has_main(script)) return true;
    return err_set(err, ERR_INVALID, "%s: nothing to run: the script does not call k8s.main", managed->path);
}

bool engine_add(struct engine *engine, const char *path, const char *name, struct err *err)
{
    struct managed_script *managed = managed_script_add(&engine->scripts, path, name);
    if (load_first(engine, managed, err)) return true;
    managed_script_remove(managed);
    return false;
}

/* Checks each script that starts, so that every mistake is reported, whatever earlier scripts wait for. */
void engine_begin(struct engine *engine)
{
    engine->refreshes = 0;
    if (kinds_known(engine->cluster->parts.kinds))
        engine_update_kinds(engine, kinds_catalogue(engine->cluster->parts.kinds));
    clusters_resolve(&engine->clusters);
    engine_check_soon(engine);
}

bool engine_load_scripts(struct engine *engine)
{
    const struct script_files *files = engine->options.files;
    bool ok = true;
    for (size_t i = 0; i < files->count; i++) {
        struct err err;
        if (load_first(engine, managed_script_add(&engine->scripts, files->paths[i], files->names[i]), &err))
            continue;
        log_fatal("kubelua", err.text);
        ok = false; /* the others are loaded too, so that all faults are named at once */
    }
    if (!ok) return false;
    struct err err;
    ok = engine_check_params(engine, &err);
    if (!ok) log_fatal("kubelua", err.text);
    return ok;
}

/* --- main */

static void on_main_done(void *ctx, enum script_result result, int exit_code)
{
    struct engine *engine = ctx;
    const struct engine_watcher *watcher = &engine->options.watcher;
    if (engine->stopping || !watcher->main_done) return; /* a signal cancelled it */
    watcher->main_done(watcher->ctx, result, exit_code);
}

static void start_main(struct engine *engine, struct managed_script *managed)
{
    managed->main_started = true;
    if (!script_has_main(managed->running)) return;
    managed->main_ran = true;
    script_run_main(managed->running, on_main_done, engine);
}

void engine_on_check(struct timer *timer)
{
    struct engine *engine = container_of(timer, struct engine, check);
    for (size_t i = 0; i < engine->scripts.count && !engine->stopping; i++) {
        struct managed_script *managed = engine->scripts.items[i];
        if (managed->running && !managed->main_started && script_has_synced(managed->running))
            start_main(engine, managed);
    }
}

void engine_check_soon(struct engine *engine)
{
    if (!timer_running(&engine->check) && !engine->ending_ms)
        timer_start(&engine->check, loop_clock(engine->loop), 0);
}

/* --- what becomes of them */

void engine_claims_settled(struct engine *engine)
{
    if (engine->refused.len) return; /* nothing starts */
    for (size_t i = 0; i < engine->scripts.generation_count; i++)
        script_claims_changed(engine->scripts.generations[i]);
}

void engine_note_claim(struct engine *engine, struct informer_claim *claim)
{
    if (claim_has_synced(claim)) {
        engine_check_soon(engine);
        reload_check_soon(&engine->scripts);
        engine_continuous_claims_changed(engine);
        if (engine->options.watcher.claims_changed)
            engine->options.watcher.claims_changed(engine->options.watcher.ctx);
    }
    if (claim_has_settled(claim)) engine_claims_settled(engine);
    engine_touch(engine);
}

void engine_claim_changed(void *ctx, struct informer_claim *claim)
{
    struct engine *engine = ctx;
    engine_note_claim(engine, claim);
    if (claim_is_missing(claim)) engine_refresh_kinds_soon(engine);
}

void engine_claim_synced(void *ctx, const char *informer, size_t objects)
{
    struct engine *engine = ctx;
    if (engine->options.keeps_running) log_info("Synced", F("informer", informer), FI("objects", objects));
}

struct engine_summary engine_sum_up(const struct engine *engine)
{
    struct engine_summary all = {0};
    for (size_t i = 0; i < engine->scripts.generation_count; i++) {
        struct script_counters one = script_counters(engine->scripts.generations[i]);
        all.unhandled += script_pending_events(engine->scripts.generations[i]);
        all.calls.adds += one.adds;
        all.calls.updates += one.updates;
        all.calls.deletes += one.deletes;
        all.calls.errors += one.errors;
    }
    return all;
}

void engine_log_summary(const struct engine_summary *all)
{
    log_info("Stopped", FI("adds", all->calls.adds), FI("updates", all->calls.updates),
             FI("deletes", all->calls.deletes), FI("errors", all->calls.errors),
             FI("eventsUnhandled", all->unhandled), FI("objectsRefused", metric_get(&metric_objects_refused)),
             FI("printLinesDropped", writer_dropped(WRITER_STDOUT)),
             FI("logLinesDropped", writer_dropped(WRITER_STDERR)),
             FI("auditLinesDropped", writer_dropped(WRITER_FILE)));
}

/* --- Check that rules declare all parameters of the operator */

/* Returns whether a managed script keeps its running generation, though an incoming one waits. */
typedef bool keeps_fn(const struct managed_script *managed, const struct managed_script *which);

static bool is_same(const struct managed_script *managed, const struct managed_script *which)
{
    return managed == which;
}

static bool runs(const struct managed_script *managed, const struct managed_script *which)
{
    (void)which;
    return managed->running != NULL;
}

static struct script *script_in(const struct managed_script *managed, keeps_fn *keeps,
                                const struct managed_script *which)
{
    if (managed->gone) return NULL;
    return managed->incoming && !keeps(managed, which) ? managed->incoming : managed->running;
}

/* Names that the generation `before` was given, too, are left out; NULL: none. */
static bool all_taken(const struct engine *engine, keeps_fn *keeps, const struct managed_script *which,
                      const struct script *before, struct err *err)
{
    struct script **scripts = xcalloc(engine->scripts.count + 1, sizeof(struct script *));
    size_t count = 0;
    for (size_t i = 0; i < engine->scripts.count; i++) {
        struct script *script = script_in(engine->scripts.items[i], keeps, which);
        if (script) scripts[count++] = script;
    }
    struct params *now = params_read_again(engine->host.params, err);
    bool ok = now && params_check_new(now, before, scripts, count, err);
    params_free(now);
    free(scripts);
    return ok;
}

bool engine_check_params(const struct engine *engine, struct err *err)
{
    return all_taken(engine, runs, NULL, NULL, err);
}

/* Whether a generation comes for its settings alone. */
static bool has_same_sources(const struct managed_script *managed)
{
    char now[BUNDLE_HASH_LEN + 1], next[BUNDLE_HASH_LEN + 1];
    bundle_sources_hash(script_bundle(managed->running), now);
    bundle_sources_hash(script_bundle(managed->incoming), next);
    return strcmp(now, next) == 0;
}

/* A generation that comes for its settings alone may leave a name undeclared that was undeclared before, as
 * when the script that declared it is gone; one that is new is misspelt, or its script is still to come.
 * Other generations may leave a name undeclared if they declared it no more than the running one. */
bool engine_params_stay(void *ctx, const struct managed_script *managed, struct err *err)
{
    const struct engine *engine = ctx;
    struct err other;
    bool same = has_same_sources(managed);
    if (all_taken(engine, is_same, NULL, same ? managed->running : NULL, err)) return true;
    if (!same && !all_taken(engine, is_same, managed, NULL, &other)) return true;
    return err_wrap(err, "%s", managed->path);
}

void engine_warn_params(struct engine *engine)
{
    struct err err;
    bool ok = engine_check_params(engine, &err);
    if (!ok && !engine->params_logged) log_warn("Parameter is not used", F("err", err.text));
    engine->params_logged = !ok;
}
