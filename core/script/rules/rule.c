/* Asking the rules of a script; see rule.h. */
#include "script/rules/rule.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"
#include "informer/shared/claim_index.h"
#include "informer/shared/handler_options.h"
#include "informer/shared/shared_factory.h"
#include "informer/store/filter.h"
#include "script/caches/index_function.h"
#include "script/inventory/function_hash.h"
#include "script/inventory/inventory.h"
#include "script/rules/rule_returns.h"
#include "script/view/json_encode.h"
#include "script/view/view.h"
#include "script/vm/call.h"
#include "script/vm/state.h"

static const char *const severities[] = {"info", "low", "medium", "high", "critical"};
static const char *const verdicts[] = {"pass", "skip", "warn", "fail", "error"};

const char *severity_name(enum severity severity)
{
    return severities[severity];
}

bool severity_of(struct str name, enum severity *out)
{
    for (size_t i = 0; i < SEVERITIES; i++) {
        if (!str_is(name, severities[i])) continue;
        *out = (enum severity)i;
        return true;
    }
    return false;
}

const char *verdict_name(enum verdict verdict)
{
    return verdicts[verdict];
}

/* --- what there is */

size_t script_rule_count(const struct script *script)
{
    return script->own.rules->count;
}

const struct script_rule *script_rule(const struct script *script, size_t i)
{
    must(i < script->own.rules->count);
    return &script->own.rules->items[i];
}

const struct inventory_entry *script_rule_place(const struct script *script, size_t i)
{
    return inventory_find(script->own.inventory, INVENTORY_RULE, str_of(script_rule(script, i)->id));
}

void rules_clear(struct script *script)
{
    struct script_rules *rules = script->own.rules;
    for (size_t i = 0; i < rules->count; i++) {
        struct script_rule *rule = &rules->items[i];
        handler_options_unref(rule->options);
        handler_options_unref(rule->ignore.namespaces);
        free(rule->id);
        free(rule->title);
        free(rule->category);
        free(rule->why);
        free(rule->how);
        for (size_t j = 0; j < rule->use_count; j++) {
            free(rule->uses[j].name);
            free(rule->uses[j].index);
        }
        free(rule->uses);
        quarantine_clear(&rule->quarantine);
    }
    free(rules->items);
    *rules = (struct script_rules){0};
}

bool script_rule_code(struct script *script, size_t rule, struct buf *out)
{
    size_t at = out->len;
    const struct inventory_entry *place = script_rule_place(script, rule);
    if (!function_closure_code(script, script_rule(script, rule)->code, out)) return false;
    bool is_known = out->len > at && out->data[at] != '?';
    if (place) buf_puts(out, place->detail);
    return is_known;
}

bool rule_takes(const struct script_rule *rule, struct str ns)
{
    return filter_admits_namespace(handler_options_filter(rule->options), ns);
}

bool rule_may_be_ignored_in(const struct script_rule *rule, struct str ns)
{
    struct handler_options *namespaces = rule->ignore.namespaces;
    return !namespaces || filter_admits_namespace(handler_options_filter(namespaces), ns);
}

/* --- a call */

void rule_report(struct rule_run *run, const struct rule_finding *finding)
{
    run->findings++;
    if (finding->verdict > run->verdict) run->verdict = finding->verdict;
    run->sink->found(run->sink->ctx, finding);
}

/* Function and object on an empty stack. */
static void push_call(lua_State *L, const struct rule_run *run, int function)
{
    lua_settop(L, 0);
    script_push_function(L, function);
    view_push_object(L, run->object);
}

/* skip(object, params): true or a reason; false for neither. */
static bool is_skipped(lua_State *L, struct rule_run *run)
{
    struct rule_finding finding = {.verdict = VERDICT_SKIP};
    if (!run->rule->has_skip) return false;
    push_call(L, run, run->rule->skip);
    lua_rawgeti(L, LUA_REGISTRYINDEX, run->rule->values);
    lua_call(L, 2, LUA_MULTRET);
    if (!rule_returned_by_skip(L, run)) return false;
    if (lua_type(L, 1) == LUA_TSTRING) finding.message = rule_message(L, 1);
    rule_report(run, &finding);
    return true;
}

static void call_check(lua_State *L, void *ctx)
{
    struct rule_run *run = ctx;
    run->skipped = is_skipped(L, run);
    if (run->skipped) return;
    push_call(L, run, run->rule->check);
    push_ref(L, script_of(L), REF_RULE_RESULT);
    lua_rawgeti(L, LUA_REGISTRYINDEX, run->rule->use);
    lua_rawgeti(L, LUA_REGISTRYINDEX, run->rule->values);
    lua_call(L, 4, LUA_MULTRET);
    rule_returned_by_check(L, run);
}

static enum script_result call(struct script *script, struct rule_run *run, script_body *body)
{
    must(!script->own.rules->run);
    script->own.rules->run = run;
    enum script_result result = script_call_rule(script, run->rule->id, body, run);
    script->own.rules->run = NULL;
    return result;
}

/* Returns a use without a cache: lookups in it would find nothing, and all would seem well. */
static const struct rule_use *find_suspended(const struct script_rule *rule)
{
    for (size_t i = 0; i < rule->use_count; i++)
        if (claim_is_suspended(rule->uses[i].claim)) return &rule->uses[i];
    return NULL;
}

static void send_error(struct rule_run *run, struct str message)
{
    rule_report(run, &(const struct rule_finding){.verdict = VERDICT_ERROR, .message = message});
}

/* An object whose index function failed is not found. */
static const char *failure_of(const struct rule_use *use)
{
    bool is_namespace;
    const struct claim_index *index = claim_find_index(use->claim, str_of(use->index), &is_namespace, NULL);
    return index ? index_function_failure(claim_index_source(index)) : NULL;
}

static void send_failures(struct rule_run *run)
{
    for (size_t i = 0; i < run->rule->use_count; i++) {
        const struct rule_use *use = &run->rule->uses[i];
        const char *failure = failure_of(use);
        if (!failure) continue;
        struct buf text = {0};
        buf_printf(&text, "use.%s may be incomplete because its index function failed: %s", use->name,
                   failure);
        send_error(run, buf_slice(&text));
        buf_clear(&text);
    }
}

static void send_quarantined(struct rule_run *run, struct quarantine *quarantine)
{
    struct buf text = {0};
    buf_printf(&text, "the rule is in quarantine after consecutive calls exceeded a limit (%s); ",
               buf_text(&quarantine->why));
    quarantine_put_remedy(quarantine, &text);
    send_error(run, buf_slice(&text));
    buf_clear(&text);
}

static void evaluate_or_skip(struct script *script, struct script_rule *rule, struct rule_run *run)
{
    if (quarantine_skips(&rule->quarantine)) {
        send_quarantined(run, &rule->quarantine);
        return;
    }
    enum script_result result = call(script, run, call_check);
    if (result != SCRIPT_OK)
        send_error(run, buf_slice(&script->failure.text));
    else if (!run->skipped)
        send_failures(run);
    if (rule->lifted) quarantine_note(&rule->quarantine, QUARANTINE_CALL, result);
}

enum verdict script_evaluate_rule(struct script *script, size_t rule, struct root *object,
                                  const struct rule_sink *sink)
{
    struct rule_run run = {.rule = script_rule(script, rule), .object = object, .sink = sink};
    partial_begin(&script->own.views->partial, sink->projection ? object : NULL, sink->projection,
                  sink->missed, sink->ctx);
    const struct rule_use *suspended = find_suspended(run.rule);
    if (suspended) {
        struct buf text = {0};
        buf_printf(&text, "use.%s: no cache of %s", suspended->name, claim_spec(suspended->claim)->kind);
        send_error(&run, buf_slice(&text));
        buf_clear(&text);
    } else {
        evaluate_or_skip(script, &script->own.rules->items[rule], &run);
    }
    partial_end(&script->own.views->partial);
    return run.verdict;
}

/* --- who asks for ever */

static void on_lifted(struct quarantine *quarantine)
{
    const struct script_rule *rule = container_of(quarantine, struct script_rule, quarantine);
    if (rule->lifted) rule->lifted(rule->lifted_ctx);
}

void script_watch_rule(struct script *script, size_t rule, void (*lifted)(void *ctx), void *ctx)
{
    struct script_rule *watched = &script->own.rules->items[rule];
    must(rule < script->own.rules->count);
    if (!watched->quarantine.script) {
        char *id = xasprintf("rule/%s", watched->id);
        quarantine_init(&watched->quarantine, script, id, on_lifted);
        free(id);
    }
    watched->lifted = lifted;
    watched->lifted_ctx = ctx;
}

void script_leave_rule(struct script *script, size_t rule)
{
    struct script_rule *watched = &script->own.rules->items[rule];
    quarantine_end(&watched->quarantine);
    watched->lifted = NULL;
}

bool script_rule_is_quarantined(const struct script *script, size_t rule)
{
    return script_rule(script, rule)->quarantine.active;
}

/* --- fixes */

static void fix(lua_State *L, void *ctx)
{
    struct rule_run *run = ctx;
    push_call(L, run, run->rule->fix);
    lua_rawgeti(L, LUA_REGISTRYINDEX, run->rule->values);
    lua_call(L, 2, LUA_MULTRET);
    if (rule_returned_by_fix(L, run)) buf_str(run->json, buf_slice(json_encode(L, 1, "k8s.rule: fix", 0)));
}

bool script_fix_by_rule(struct script *script, size_t rule, struct root *object, struct buf *out,
                        struct err *err)
{
    struct rule_run run = {.rule = script_rule(script, rule), .object = object, .json = out};
    if (!run.rule->has_fix || call(script, &run, fix) == SCRIPT_OK) return true;
    return err_set(err, ERR_SCRIPT, "%s", buf_text(&script->failure.text));
}
