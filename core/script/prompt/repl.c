/* Evaluating lines; see repl.h. */
#include "script/prompt/repl.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/kinds/kinds.h"
#include "script/caches/bind_informer.h"
#include "script/generation/script_open.h"
#include "script/prompt/repl_internal.h"
#include "script/vm/budget.h"
#include "script/vm/call.h"
#include "script/vm/memory.h"
#include "script/vm/modules.h"
#include "script/vm/task.h"

static void on_print(void *ctx, struct str line)
{
    struct repl *repl = ctx;
    repl->ops.printed(repl->ops.ctx, line);
}

/* --- its life */

static int keep_function(lua_State *L, const char *name)
{
    lua_getfield(L, -1, name);
    return luaL_ref(L, LUA_REGISTRYINDEX);
}

static void set_up(lua_State *L, void *ctx)
{
    struct repl *repl = ctx;
    push_ref(L, repl->script, REF_RAW);
    bind_repl(L);
    modules_internal(L, "k8s.repl");
    repl->eval = keep_function(L, "eval");
    repl->complete = keep_function(L, "complete");
}

struct repl *repl_new(const struct script_host *host, enum repl_caches caches, const struct repl_ops *ops,
                      struct err *err)
{
    struct repl *repl = NEW(struct repl);
    repl->caches = caches;
    repl->ops = *ops;
    repl->host = *host;
    repl->host.hooks.print = on_print;
    repl->host.hooks.ctx = repl;
    repl->host.trusted_count = repl->host.dry_run_count = 0;
    repl->host.write_mode =
        WRITES_RECORDED; /* there is no verb that writes; if there were, nothing is sent */
    repl->script = script_new(&repl->host, &(struct script_source){.path = "repl", .name = "repl"});
    repl->script->own.repl = repl;
    memory_pack(repl->script);
    bool ok = state_open(repl->script, err);
    if (ok && script_call(repl->script, "the prompt's start", set_up, repl) != SCRIPT_OK)
        ok = err_set(err, ERR_SCRIPT, "%s", buf_text(&repl->script->failure.text));
    if (ok) return repl;
    repl_free(repl);
    return NULL;
}

void repl_be_brief(struct repl *repl, struct piece_meter *meter)
{
    repl->script->brief = meter;
    pace_rest(repl->script);
}

bool repl_end_step(struct repl *repl)
{
    repl->ops.ended = NULL;
    repl_watch_end(repl);
    return state_drain_step(repl->script, &repl->drain);
}

void repl_free(struct repl *repl)
{
    if (!repl) return;
    repl->ops.ended = NULL;
    repl_watch_end(repl);
    while (state_drain_is_begun(&repl->drain) && !repl_end_step(repl)) continue;
    script_free(repl->script);
    buf_clear(&repl->result);
    free(repl);
}

/* --- evaluation */

static void push_arguments(lua_State *L, void *ctx)
{
    const struct repl *repl = ctx;
    lua_pushlstring(L, repl->text.p ? repl->text.p : "", repl->text.n);
    lua_pushinteger(L, (lua_Integer)repl->style.width);
    lua_pushboolean(L, repl->style.colours);
    lua_pushboolean(L, repl->style.hides_secrets);
    if (repl->interrupted) budget_exceed(repl->script, LIMIT_HANDLER_CPU); /* just before there was a call */
}

static void set_result(struct repl *repl, enum repl_end end, struct str text)
{
    repl->end = end;
    repl->result.len = 0;
    buf_str(&repl->result, text);
}

/* "... index global 'podz' (a nil value)": a kind may have been meant. */
static void name_kind(const struct repl *repl, struct buf *text)
{
    static const char before[] = "global '", behind[] = "' (a nil value)";
    const struct catalogue *catalogue = kinds_catalogue(repl->host.cluster->kinds);
    const char *at = strstr(buf_text(text), before), *name = at ? at + strlen(before) : NULL;
    const char *end = name ? strchr(name, '\'') : NULL;
    struct buf near = {0};
    if (!catalogue || !end || strncmp(end, behind, strlen(behind)) != 0) return;
    if (catalogue_nearest(catalogue, (struct str){name, (size_t)(end - name)}, &near))
        buf_printf(text, ", did you mean \"%s\"?", buf_text(&near));
    buf_clear(&near);
}

static void on_done(void *ctx, enum script_result result)
{
    struct repl *repl = ctx;
    if (result == SCRIPT_ERROR) name_kind(repl, &repl->script->failure.text);
    if (repl->interrupted || result == SCRIPT_CANCELLED)
        set_result(repl, REPL_FAILED, STR("interrupted"));
    else if (result != SCRIPT_OK)
        set_result(repl, REPL_FAILED, buf_slice(&repl->script->failure.text));
    repl->task = NULL;
    repl->busy = repl->interrupted = false;
    if (repl->ops.ended) repl->ops.ended(repl->ops.ctx, repl->end, buf_slice(&repl->result));
}

void repl_eval(struct repl *repl, struct str text, const struct repl_style *style)
{
    const struct task_call call = {.what = "a prompt",
                                   .function = repl->eval,
                                   .prepare = push_arguments,
                                   .prepare_ctx = repl,
                                   .pauses = repl->script->brief != NULL,
                                   .done = on_done,
                                   .ctx = repl};
    repl->text = text;
    repl->style = *style;
    repl->interrupted = false; /* by what came when the last one had just ended */
    repl->busy = true;
    repl->result.len = 0;
    enum script_result result = task_run(repl->script, &call, &repl->task);
    if (result != SCRIPT_YIELDED) on_done(repl, result);
}

bool repl_is_busy(const struct repl *repl)
{
    return repl->busy;
}

void repl_cancel(struct repl *repl)
{
    if (repl->task) task_cancel(repl->task);
}

/* Ends the line as one that exceeds its limit, whatever pcall it is in. */
void repl_interrupt(struct repl *repl)
{
    if (!repl->busy && !repl->completes) return;
    repl->interrupted = true;
    budget_exceed(repl->script, LIMIT_HANDLER_CPU);
}

bool repl_was_interrupted(const struct repl *repl)
{
    return repl->interrupted;
}

/* --- the rest */

static void call_complete(lua_State *L, void *ctx)
{
    const struct repl *repl = ctx;
    lua_rawgeti(L, LUA_REGISTRYINDEX, repl->complete);
    lua_pushlstring(L, repl->text.p ? repl->text.p : "", repl->text.n);
    if (repl->interrupted) budget_exceed(repl->script, LIMIT_HANDLER_CPU); /* just before there was a call */
    lua_call(L, 1, 0);
}

void repl_complete(struct repl *repl, struct str text, size_t *start, struct buf *out)
{
    *start = text.n;
    if (repl->busy) return;
    repl->text = text;
    repl->result.len = 0;
    repl->start = text.n;
    repl->interrupted = false;
    repl->completes = true;
    enum script_result result = script_call_handler(repl->script, "completion", call_complete, repl);
    repl->completes = false;
    if (result != SCRIPT_OK) return;
    *start = repl->start;
    buf_str(out, buf_slice(&repl->result));
}

size_t repl_memory(const struct repl *repl)
{
    return script_memory(repl->script);
}

void repl_claims_changed(struct repl *repl)
{
    script_claims_changed(repl->script);
}
