/* Loads, runs and frees a script; see script.h. */
#include "script/script.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "script/handler.h"
#include "script/modules.h"
#include "script/report.h"
#include "script/script_queue.h"
#include "script/script_timer.h"
#include "script/state.h"
#include "script/wait.h"

static void run_chunk(lua_State *L, void *ctx)
{
    const struct buf *source = ctx;
    const char *chunk = lua_pushfstring(L, "@%s", script_of(L)->path);
    modules_push_chunk(L, source, chunk);
    lua_call(L, 0, 0);
}

/* Which text of it wrote what: the audit trail names it. */
static void set_hash(struct script *script, const struct buf *source)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    must(EVP_Digest(source->data ? source->data : "", source->len, digest, NULL, EVP_sha256(), NULL));
    for (size_t i = 0; i < sizeof script->hash / 2; i++) snprintf(script->hash + 2 * i, 3, "%02x", digest[i]);
}

static bool load(struct script *script, struct err *err)
{
    struct buf source = {0};
    bool ok = modules_read(script->path, &source, err);
    if (!ok) err->code = ERR_IO;
    if (ok) set_hash(script, &source);
    if (ok) {
        buf_reserve(&source, 1);
        ok = script_call(script, "the load phase", run_chunk, &source) == SCRIPT_OK;
        if (!ok) {
            buf_text(&script->failure.text);
            err_set(err, ERR_SCRIPT, "%s", script->failure.text.data);
        }
    }
    buf_clear(&source);
    return ok;
}

struct script *script_new(const struct script_host *host, const char *path, const char *name)
{
    struct script *script = NEW(struct script);
    script->host = host;
    script->path = xstrdup(path);
    script->name = xstrdup(name);
    script->shown_name = name;
    TAILQ_INIT(&script->handlers);
    TAILQ_INIT(&script->due);
    TAILQ_INIT(&script->timers);
    TAILQ_INIT(&script->queues);
    script->queue_keys.max = QUEUE_KEYS_MAX;
    TAILQ_INIT(&script->sync_waits);
    leading_init(script);
    report_open(script);
    return script;
}

struct script *script_load(const struct script_host *host, const char *path, const char *name,
                           struct err *err)
{
    struct script *script = script_new(host, path, name);
    if (!state_open(script, err) || !load(script, err) || !leading_loaded(script, err)) {
        script_free(script);
        return NULL;
    }
    script->phase = SCRIPT_RUNNING;
    handlers_attach(script);
    return script;
}

size_t script_stop(struct script *script)
{
    script->phase = SCRIPT_STOPPING;
    script_timers_clear(script);
    queues_stop(script);
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
    TAILQ_FOREACH (handler, &script->handlers, link) count += handler->pending.count + handler->waiting_count;
    return count;
}

void script_free(struct script *script)
{
    if (!script) return;
    must(script->depth == 0);
    struct script_handler *handler;
    while ((handler = TAILQ_FIRST(&script->handlers))) handler_remove(script->L, handler);
    script_timers_clear(script);
    if (script->L) tasks_clear(script);
    state_close(script);
    queues_clear(script);
    for (size_t i = 0; i < script->claim_count; i++) claim_release(script->claims[i]);
    free(script->claims);
    kept_clear(&script->kept);
    reads_clear(&script->reads);
    leading_clear(script);
    report_close(script);
    buf_clear(&script->main.failure);
    writes_clear(&script->writes);
    plan_clear(&script->plan);
    write_counters_clear(&script->write_counters);
    free(script->path);
    free(script->name);
    free(script);
}

const char *script_name(const struct script *script)
{
    return script->name;
}

size_t script_claim_count(const struct script *script)
{
    return script->claim_count;
}

struct informer_claim *script_claim(const struct script *script, size_t i)
{
    must(i < script->claim_count);
    return script->claims[i];
}

size_t script_handler_count(const struct script *script)
{
    const struct script_handler *handler;
    size_t count = 0;
    TAILQ_FOREACH (handler, &script->handlers, link) count++;
    return count;
}

size_t script_read_count(const struct script *script)
{
    return script->reads.count;
}

const char *script_read(const struct script *script, size_t i)
{
    must(i < script->reads.count);
    return script->reads.items[i].text;
}

size_t script_write_count(const struct script *script)
{
    return script->writes.count;
}

const char *script_write(const struct script *script, size_t i)
{
    must(i < script->writes.count);
    return script->writes.items[i].text;
}

const struct plan *script_plan(const struct script *script)
{
    return &script->plan;
}

void script_leadership_changed(struct script *script)
{
    leading_changed(script);
}

void script_step_down(struct script *script)
{
    leading_step_down(script);
}

size_t script_stepping_down(const struct script *script)
{
    return leading_count_stopping(script);
}

const struct leadership *script_leadership(const struct script *script)
{
    return script->leading.leadership;
}

const struct declared_write *script_write_parts(const struct script *script, size_t i)
{
    must(i < script->writes.count);
    return &script->writes.items[i];
}

bool script_tells_events(const struct script *script)
{
    return script->tells_events;
}

bool script_has_main(const struct script *script)
{
    return script->has_main;
}

bool script_has_synced(const struct script *script)
{
    for (size_t i = 0; i < script->claim_count; i++)
        if (!claim_has_synced(script->claims[i])) return false;
    const struct script_handler *handler;
    TAILQ_FOREACH (handler, &script->handlers, link)
        if (!handler_was_handed_cache(handler) && (!handler->leader || script_leads(script))) return false;
    return true;
}

static void push_main(lua_State *L, void *ctx)
{
    push_ref(L, script_of(L), REF_MAIN);
}

/* Before any other call, which would forget why. */
static void report_main(struct script *script, enum script_result result)
{
    script->main.ended = true;
    if (result == SCRIPT_OK || result == SCRIPT_CANCELLED) return;
    buf_str(&script->main.failure, buf_slice(&script->failure.text));
    report_failure(NULL, script, SCRIPT_MAIN, result, (const struct log_field[]){{.key = NULL}});
}

static void main_ended(void *ctx, enum script_result result)
{
    struct script *script = ctx;
    report_main(script, result);
    if (result != SCRIPT_CANCELLED) script->main.done(script->main.ctx, result, script->main.exit_code);
}

static void describe_main(void *ctx, struct buf *caller, struct buf *trigger)
{
    buf_puts(caller, "main");
    buf_puts(trigger, "start");
}

void script_run_main(struct script *script, script_main_done *done, void *ctx)
{
    struct task *task;
    must(script->has_main && !script->main.done);
    script->main.done = done;
    script->main.ctx = ctx;
    const struct task_call call = {.what = "main",
                                   .function = script->refs[REF_RUN_MAIN],
                                   .prepare = push_main,
                                   .done = main_ended,
                                   .describe = describe_main,
                                   .ctx = script};
    enum script_result result = task_run(script, &call, &task);
    if (result != SCRIPT_YIELDED) report_main(script, result);
    handlers_attach(script);
    if (result != SCRIPT_YIELDED) script->main.done(ctx, result, script->main.exit_code);
}

void script_claims_changed(struct script *script)
{
    waits_claims_changed(script);
    queues_claims_changed(script);
}

struct script_counters script_counters(const struct script *script)
{
    return script->counters;
}

size_t script_memory(const struct script *script)
{
    return script->memory + script->queue_keys.bytes;
}
