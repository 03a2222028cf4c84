/* Loads, runs and frees a script; see script.h. */
#include "script/script.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "script/handler.h"
#include "script/modules.h"
#include "script/state.h"

enum { EXIT_CODE_MAX = 255 };

static void run_chunk(lua_State *L, void *ctx)
{
    const struct buf *source = ctx;
    const char *chunk = lua_pushfstring(L, "@%s", script_of(L)->path);
    modules_push_chunk(L, source, chunk);
    lua_call(L, 0, 0);
}

static bool load(struct script *script, struct err *err)
{
    struct buf source = {0};
    bool ok = modules_read(script->path, &source, err);
    if (!ok) err->code = ERR_IO;
    if (ok) {
        buf_reserve(&source, 1);
        ok = script_call(script, run_chunk, &source) == SCRIPT_OK;
        if (!ok) {
            buf_text(&script->failure.text);
            err_set(err, ERR_SCRIPT, "%s", script->failure.text.data);
        }
    }
    buf_clear(&source);
    return ok;
}

struct script *script_load(const struct script_host *host, const char *path, const char *name,
                           struct err *err)
{
    struct script *script = NEW(struct script);
    script->host = host;
    script->path = xstrdup(path);
    script->name = xstrdup(name);
    TAILQ_INIT(&script->handlers);
    if (!state_open(script, err) || !load(script, err)) {
        script_free(script);
        return NULL;
    }
    script->phase = SCRIPT_RUNNING;
    handlers_attach(script);
    return script;
}

void script_free(struct script *script)
{
    if (!script) return;
    must(script->depth == 0);
    struct script_handler *handler;
    while ((handler = TAILQ_FIRST(&script->handlers))) handler_remove(script->L, handler);
    state_close(script);
    for (size_t i = 0; i < script->claim_count; i++) claim_release(script->claims[i]);
    free(script->claims);
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
        if (!handler_has_synced(handler)) return false;
    return true;
}

/* nothing or true: 0; a number: the code; nil, err: failed. */
static void run_main(lua_State *L, void *ctx)
{
    int *exit_code = ctx;
    push_ref(L, script_of(L), REF_MAIN);
    lua_call(L, 0, 2);
    if (lua_isnil(L, -2) && !lua_isnil(L, -1)) lua_error(L);
    if (lua_type(L, -2) != LUA_TNUMBER) return;
    lua_Number code = lua_tonumber(L, -2);
    if (!(code >= 0 && code <= EXIT_CODE_MAX) || code != (lua_Number)(int)code)
        luaL_error(L, "k8s.main returned %f: an exit code is a whole number from 0 to %d", code,
                   EXIT_CODE_MAX);
    *exit_code = (int)code;
}

enum script_result script_run_main(struct script *script, int *exit_code)
{
    must(script->has_main);
    *exit_code = 0;
    enum script_result result = script_call(script, run_main, exit_code);
    if (result != SCRIPT_OK) {
        const struct script_failure *failure = &script->failure;
        const struct log_field fields[] = {
            F("script", script->name),
            F("result", script_result_name(result)),
            FS("err", buf_slice(&failure->text)),
            FS("traceback", buf_slice(&failure->traceback)),
            {.key = NULL},
        };
        log_write(LOG_ERROR, failure->line ? failure->source : script->path, failure->line, "Main failed",
                  fields);
    }
    handlers_attach(script);
    return result;
}

struct script_counters script_counters(const struct script *script)
{
    return script->counters;
}

size_t script_memory(const struct script *script)
{
    return script->memory;
}
