/* Texts of sinks that functions give; see sink_texts.h. */
#include "script/server/sink_texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text/redact.h"
#include "informer/shared/shared_factory.h"
#include "script/server/sink_args.h"
#include "script/vm/args.h"
#include "script/vm/call.h"
#include "script/vm/turns.h"

enum { PERIOD_MS = 1000 };

/* --- what they give */

static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Returns whether that changes anything. */
static bool take_texts(struct sink_config *config, const char *const texts[SINK_TEXTS])
{
    bool changes = false;
    for (int i = 0; i < SINK_TEXTS; i++) {
        if (is_same(config->access[i], texts[i])) continue;
        wipe((char *)config->access[i]);
        config->access[i] = texts[i] ? xstrdup(texts[i]) : NULL;
        changes = true;
    }
    return changes;
}

/* Not all of them are settings of the type secret. */
static void hide(const char *const texts[SINK_TEXTS])
{
    static const enum sink_text secrets[] = {SINK_PASSWORD, SINK_TOKEN, SINK_CREDENTIALS, SINK_CERT_KEY};
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
        if (texts[secrets[i]]) redact_add(str_of(texts[secrets[i]]));
}

static struct declared_sink *sink_arg(lua_State *L)
{
    return &script_of(L)->own.sinks->items[lua_tointeger(L, 1) - 1];
}

int l_sink_take(lua_State *L)
{
    struct declared_sink *declared = sink_arg(L);
    const char *texts[SINK_TEXTS];
    sink_args_texts(L, 2, declared->config.name, declared->config.to, texts);
    bool was_known = declared->is_known, changes = take_texts(&declared->config, texts);
    declared->is_known = true;
    if (changes) hide(texts);
    if (!declared->sink) return 0;
    if (was_known && !changes) {
        script_of(L)->host->sinks->confirm(declared->sink);
        return 0;
    }
    if (was_known)
        log_info("The login of a sink has changed, connecting again", F("script", declared->config.script),
                 F("sink", declared->config.name));
    script_of(L)->host->sinks->use(declared->sink, &declared->config);
    return 0;
}

int l_sink_ask(lua_State *L)
{
    struct declared_sink *declared = sink_arg(L);
    lua_settop(L, 2);
    declared->function = luaL_ref(L, LUA_REGISTRYINDEX);
    script_of(L)->own.sinks->asked++;
    char *id = xasprintf("sink/%s", declared->config.name);
    quarantine_init(&declared->quarantine, script_of(L), id, NULL);
    free(id);
    return 0;
}

int l_sink_lack(lua_State *L)
{
    sink_arg(L)->is_lacking = lua_toboolean(L, 2);
    return 0;
}

/* --- asking */

static void push_and_call(lua_State *L, void *ctx)
{
    const int *function = ctx;
    lua_rawgeti(L, LUA_REGISTRYINDEX, *function);
    lua_call(L, 0, 0);
}

static void ask(struct script *script, struct declared_sink *declared)
{
    if (quarantine_skips(&declared->quarantine)) return;
    declared->is_lacking = false;
    enum script_result result =
        script_call(script, "a function of k8s.sink", push_and_call, &declared->function);
    if (result == SCRIPT_CPU_LIMIT || result == SCRIPT_MEMORY_LIMIT ||
        (result == SCRIPT_ERROR && !declared->is_lacking))
        failure_log_add(&declared->report, script, SCRIPT_SINK, result,
                        (const struct log_field[]){F("sink", declared->config.name), {.key = NULL}});
    quarantine_note(&declared->quarantine, QUARANTINE_CALL, result);
    if (declared->sink && result != SCRIPT_OK)
        script->host->sinks->hold(declared->sink, &declared->config, buf_text(&script->failure.text));
}

static void on_timer(struct timer *timer)
{
    sink_texts_invalidate(container_of(timer, struct script_sinks, timer)->script);
}

void sink_texts_invalidate(struct script *script)
{
    struct script_sinks *own = script->own.sinks;
    if (own->asked == 0 || script->phase != SCRIPT_RUNNING) return;
    own->is_due = true;
    turns_schedule(script);
}

/* All that the functions read is there, or cannot be had. */
static bool may_ask(const struct script *script)
{
    for (size_t i = 0; i < script_loaded_claims(script); i++) {
        const struct informer_claim *claim = script->informers.claims[i];
        if (claim_is_of_home(claim) && !claim_has_settled(claim)) return false;
    }
    return !script->restoring;
}

void sinks_turn(struct script *script)
{
    struct script_sinks *own = script->own.sinks;
    if (!own->is_due || script->phase != SCRIPT_RUNNING) return;
    own->is_due = false;
    for (size_t i = 0; may_ask(script) && i < own->count; i++)
        if (own->items[i].function != LUA_NOREF) ask(script, &own->items[i]);
    timer_start(&own->timer, script_clock(script), PERIOD_MS);
}

void sink_texts_begin(struct script *script)
{
    script->own.sinks->script = script;
    script->own.sinks->timer.fn = on_timer;
    sink_texts_invalidate(script);
}

void sink_texts_end(struct script *script)
{
    script->own.sinks->is_due = false;
    timer_cancel(&script->own.sinks->timer);
}
