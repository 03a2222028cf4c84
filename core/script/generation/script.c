/* Loads, runs and frees a script; see script.h. */
#include "script/generation/script.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "script/caches/bind_informer.h"
#include "script/caches/index_function.h"
#include "script/caches/transform.h"
#include "script/generation/features.h"
#include "script/generation/script_open.h"
#include "script/generation/state_keep.h"
#include "script/handlers/delivery.h"
#include "script/handlers/handler.h"
#include "script/handlers/leading.h"
#include "script/inventory/inventory.h"
#include "script/inventory/metrics.h"
#include "script/rules/rule.h"
#include "script/server/declared.h"
#include "script/server/sink.h"
#include "script/server/write_record.h"
#include "script/view/state_table.h"
#include "script/view/view.h"
#include "script/vm/bundle.h"
#include "script/vm/call.h"
#include "script/vm/failure_log.h"
#include "script/vm/memory.h"
#include "script/vm/modules.h"
#include "script/vm/script_name.h"
#include "script/vm/state.h"
#include "script/vm/task.h"
#include "script/vm/throttle.h"
#include "script/vm/turns.h"
#include "script/work/script_queue.h"
#include "script/work/script_timer.h"
#include "script/work/webhook_paths.h"

static void run_chunk(lua_State *L, void *ctx)
{
    const struct str *text = ctx;
    const char *chunk = lua_pushfstring(L, "@%s", script_of(L)->id.path);
    modules_push_chunk(L, *text, chunk);
    lua_call(L, 0, 0);
    modules_loaded(L);
}

static void push_chunk(lua_State *L, void *ctx)
{
    const struct str *text = ctx;
    modules_push_chunk(L, *text, lua_pushfstring(L, "@%s", script_of(L)->id.path));
    lua_remove(L, -2);
}

static void end_chunk(lua_State *L, void *ctx)
{
    modules_loaded(L);
}

static bool load(struct script *script, struct err *err)
{
    struct str text;
    bool ok = bundle_text(script->id.bundle, script->id.path, &text, err);
    if (!ok) {
        err->code = ERR_IO;
        return false;
    }
    if (script_call(script, "the load phase", run_chunk, &text) == SCRIPT_OK) {
        memory_collect(
            script->L); /* what only loading needed: a script that waits for events may not grow soon */
        return true;
    }
    return err_set(err, ERR_SCRIPT, "%s", buf_text(&script->failure.text));
}

static bool is_trusted(const struct script_host *host, const char *name, const char *path)
{
    for (size_t i = 0; i < host->trusted_count; i++)
        if (strcmp(host->trusted[i], name) == 0 || strcmp(host->trusted[i], path) == 0) return true;
    return false;
}

/* The name of a script, which every generation has: a reload changes nothing. */
static enum write_mode write_mode_of(const struct script_host *host, const char *name, const char *path)
{
    enum write_mode mode = host->write_mode;
    for (size_t i = 0; i < host->dry_run_count; i++) {
        const char *item = host->dry_runs[i], *value = strrchr(item, '=');
        if (!value) continue;
        struct str wanted = {item, (size_t)(value - item)};
        if (script_goes_by(wanted, name, path))
            mode = strcmp(value + 1, "client") == 0 ? WRITES_RECORDED : WRITES_TRIED;
    }
    return mode;
}

struct script *script_new(const struct script_host *host, const struct script_source *source)
{
    struct script *script = NEW(struct script);
    script->host = host;
    script->features = &script_features;
    script->id.path = xstrdup(source->path);
    script->id.name = xstrdup(source->name);
    script->id.shown_name = source->name;
    script->id.bundle = source->bundle ? bundle_ref(source->bundle) : bundle_new();
    script->load.generation = source->generation;
    script->limits = *(host->limits ? host->limits : &limits_default);
    script->write_mode = write_mode_of(host, source->name, source->path);
    script->trusted = is_trusted(host, source->name, source->path);
    script->load.before = source->before;
    TAILQ_INIT(&script->report.quarantined);
    throttle_init(script);
    script_errors_open(script);
    features_open(script);
    return script;
}

/* Checks that the lease is declared. A script may choose leases only within the namespace of the flags; one
 * that is elsewhere is a write that it must have declared. */
static bool lease_is_declared(const struct script *script, struct err *err)
{
    const struct leading *leading = script->own.leading;
    const struct script_host *host = script->host;
    if (!leading->place || host->any_lease) return true;
    const struct lease_config *config = leading->config;
    if (strcmp(config->namespace_, host->lease.namespace_) == 0 ||
        declared_allow_leases(&script->own.writes->declared))
        return true;
    return err_set(err, ERR_SCRIPT,
                   "%s: k8s.leader: the lease %s/%s is not in the namespace \"%s\" of "
                   "--leader-elect-resource-namespace; name none, or declare k8s.writes { "
                   "\"leases.coordination.k8s.io:create\", \"leases.coordination.k8s.io:update\" }",
                   leading->place, config->namespace_, config->name, host->lease.namespace_);
}

static bool become_loaded(struct script *script, struct err *err)
{
    if (!lease_is_declared(script, err)) return false;
    transforms_loaded(script);
    script->phase = SCRIPT_LOADED;
    script->load.in_parts = false;
    script->load.us = (clock_measure_ns() - script->load.begun_ns) / 1000;
    return true;
}

static struct script *begin(const struct script_host *host, const struct script_source *source)
{
    int64_t begun_ns = clock_measure_ns();
    struct script *script = script_new(host, source);
    script->load.begun_ns = begun_ns;
    return script;
}

struct script *script_prepare(const struct script_host *host, const struct script_source *source,
                              struct err *err)
{
    struct script *script = begin(host, source);
    if (state_open(script, err) && load(script, err) && become_loaded(script, err)) return script;
    script_free(script);
    return NULL;
}

/* --- in parts */

static void chunk_ended(void *ctx, enum script_result result)
{
    struct script *script = ctx;
    script->load.ended = true;
    script->load.result = result;
}

static bool begin_chunk(struct script *script, struct err *err)
{
    static const char phase[] = "the load phase";
    struct str text;
    struct task *task;
    if (!bundle_text(script->id.bundle, script->id.path, &text, err)) {
        err->code = ERR_IO;
        return false;
    }
    script->load.in_parts = true;
    const struct task_call call = {.what = phase,
                                   .no_yield = phase,
                                   .cpu = LIMIT_LOAD_CPU,
                                   .push = push_chunk,
                                   .prepare_ctx = &text,
                                   .pauses = true,
                                   .done = chunk_ended,
                                   .ctx = script};
    enum script_result result = task_run(script, &call, &task);
    if (result != SCRIPT_YIELDED) chunk_ended(script, result);
    return true;
}

struct script *script_prepare_in_parts(const struct script_host *host, const struct script_source *source,
                                       struct err *err)
{
    struct script *script = begin(host, source);
    if (state_open(script, err) && begin_chunk(script, err)) return script;
    script_free(script);
    return NULL;
}

bool script_is_loading(const struct script *script)
{
    return script->phase == SCRIPT_LOADING && !script->load.ended;
}

bool script_end_loading(struct script *script, struct err *err)
{
    enum script_result result = script->load.result;
    if (result == SCRIPT_OK) result = script_call(script, "the load phase", end_chunk, NULL);
    if (result != SCRIPT_OK) return err_set(err, ERR_SCRIPT, "%s", buf_text(&script->failure.text));
    memory_collect(script->L); /* as `load` does */
    return become_loaded(script, err);
}

bool script_start(struct script *script, struct err *err)
{
    must(script->phase == SCRIPT_LOADED);
    if (!metrics_fit(script, err) || !webhooks_fit(script, err) || !leading_loaded(script, err) ||
        !state_keep_start(script, err))
        return false;
    metrics_handover(NULL, script);
    script->phase = SCRIPT_RUNNING;
    script_timers_start(script);
    webhooks_handover(NULL, script);
    sinks_handover(script);
    handlers_attach(script);
    if (!TAILQ_EMPTY(&script->own.queues->list)) turns_schedule(script);
    return true;
}

struct script *script_load(const struct script_host *host, const char *path, const char *name,
                           struct err *err)
{
    const struct script_source source = {.path = path, .name = name, .generation = 1};
    struct script *script = script_prepare(host, &source, err);
    if (!script || script_start(script, err)) return script;
    script_free(script);
    return NULL;
}

size_t script_stop(struct script *script)
{
    script->phase = SCRIPT_STOPPING;
    FEATURES_EACH(script, stop);
    tasks_stop(script);
    return script_waiting_calls(script);
}

size_t script_waiting_calls(const struct script *script)
{
    return script->tasks.waiting_count;
}

void script_cancel_calls(struct script *script)
{
    must(script->phase == SCRIPT_STOPPING);
    tasks_cancel(script);
}

size_t script_pending_events(const struct script *script)
{
    const struct script_handler *handler;
    size_t count = 0;
    TAILQ_FOREACH (handler, &script->own.handlers->list, link)
        count += delivery_backlog(handler) + handler->waiting_count;
    return count;
}

void script_collect_idle(struct script *script)
{
    memory_collect_idle(script);
}

size_t script_flush_states(struct script *script)
{
    return state_keep_flush(script);
}

void script_free(struct script *script)
{
    if (!script) return;
    must(script->call.depth == 0);
    FEATURES_EACH(script, end);
    if (script->L) tasks_clear(script);
    state_close(script);
    for (size_t i = 0; i < script->informers.count; i++) claim_release(script->informers.claims[i]);
    free(script->informers.claims);
    features_close(script);
    script_errors_close(script);
    throttle_clear(script);
    buf_clear(&script->report.first_failure);
    bundle_unref(script->id.bundle);
    free(script->id.path);
    free(script->id.name);
    free(script);
}

void script_claims_changed(struct script *script)
{
    FEATURES_EACH(script, claims_changed);
}

void script_leadership_changed(struct script *script)
{
    leading_changed(script);
}

void script_step_down(struct script *script)
{
    leading_step_down(script);
}

/* Failures of one generation may continue those of the other. */
static void add_times(struct script_counters *to, const struct script_counters *more)
{
    bool is_later = more->failed_us > to->failed_us;
    const struct script_counters first = is_later ? *to : *more, last = is_later ? *more : *to;
    to->failed_us = last.failed_us;
    to->failing_us = last.failing_us;
    if (failures_go_on(first.failed_us, last.failing_us) && first.failing_us < last.failing_us)
        to->failing_us = first.failing_us;
}

void script_add_counters(struct script *script, struct script *other)
{
    struct script_counters *a = &other->report.counters, *b = &script->report.counters;
    b->adds += a->adds;
    b->updates += a->updates;
    b->deletes += a->deletes;
    b->errors += a->errors;
    b->failed_writes += a->failed_writes;
    add_times(b, a);
    for (size_t i = 0; i < SCRIPT_FUNCTIONS; i++)
        script->report.error_counts[i] += other->report.error_counts[i];
    *a = (struct script_counters){0};
    memset(other->report.error_counts, 0, sizeof other->report.error_counts);
}
