/* raw.rule: k8s.rule, and the findings that a rule reports. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/text/nearest.h"
#include "informer/shared/shared_factory.h"
#include "script/caches/bind_informer.h"
#include "script/caches/index_function.h"
#include "script/handlers/handler.h"
#include "script/rules/rule.h"
#include "script/view/json_encode.h"
#include "script/view/view.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"

enum { ID_MAX = 56, TEXT_MAX = 4000, MESSAGE_MAX = 4000, PATH_MAX_BYTES = 1000, VALUE_MAX = 1024 };

/* --- registering one */

/* The id stands in annotations (kubelua/ignore.ID, of which 63 characters may be a name), in reports and
 * behind
 * --explain. */
static const char *id_arg(lua_State *L, int idx)
{
    return check_id(L, arg_str(L, idx, "k8s.rule: id"), "k8s.rule", "id", ID_MAX);
}

static const char *text_arg(lua_State *L, int idx, const char *what)
{
    struct str text = arg_str_opt(L, idx, what);
    if (text.n > TEXT_MAX) script_raise(L, "%s has at most %d bytes", what, TEXT_MAX);
    return text.p ? text.p : "";
}

static enum severity severity_arg(lua_State *L, int idx)
{
    struct str name = arg_str_opt(L, idx, "k8s.rule: severity");
    enum severity severity = SEVERITY_MEDIUM;
    if (!name.p || severity_of(name, &severity)) return severity;
    struct nearest near = nearest_to(name);
    for (size_t i = 0; i < SEVERITIES; i++) nearest_try(&near, severity_name((enum severity)i));
    if (near.name)
        script_raise(L, "k8s.rule: severity: unknown \"%.40s\", did you mean \"%s\"?", name.p, near.name);
    script_raise(L, "k8s.rule: severity must be info, low, medium, high or critical, not \"%.40s\"", name.p);
}

static void check_new(lua_State *L, const char *id)
{
    const struct script *script = script_of(L);
    for (size_t i = 0; i < script->own.rules->count; i++)
        if (strcmp(script->own.rules->items[i].id, id) == 0)
            script_raise(L, "k8s.rule: %s is already registered", id);
    if (script->own.rules->count == RULES_MAX)
        script_raise(L, "k8s.rule: a script can have at most %d rules", RULES_MAX);
}

/* Informers of the array at `idx`. */
static size_t kinds_arg(lua_State *L, int idx, struct informer_claim **kinds)
{
    size_t count = lua_objlen(L, idx);
    if (count > RULE_KINDS_MAX) script_raise(L, "k8s.rule: kinds: at most %d", RULE_KINDS_MAX);
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, idx, (int)i + 1);
        kinds[i] = informer_arg(L, -1, "k8s.rule: kinds");
        lua_pop(L, 1);
    }
    return count;
}

static int ref_arg(lua_State *L, int idx)
{
    lua_pushvalue(L, idx);
    return luaL_ref(L, LUA_REGISTRYINDEX); /* of nil: LUA_REFNIL */
}

enum {
    ARG_ID = 1,
    ARG_TITLE,
    ARG_SEVERITY,
    ARG_CATEGORY,
    ARG_WHY,
    ARG_HOW,
    ARG_KINDS,
    ARG_OPTIONS,
    ARG_USE,
    ARG_CHECK,
    ARG_SKIP,
    ARG_FIX,
    ARG_VALUES,
    ARG_USES,
    ARG_CODE,
    ARG_IGNORE_DAYS,
    ARG_IGNORE_NAMESPACES,
};

/* The array has three values for each thing, of which number `but` is no text; 3: all are. Before anything of
 * C is kept, as it raises. */
static void check_texts(lua_State *L, int idx, const char *what, size_t but)
{
    size_t count = lua_objlen(L, idx);
    for (size_t i = 0; i < count; i++) {
        if (i % 3 == but) continue;
        lua_rawgeti(L, idx, (int)i + 1);
        arg_str(L, -1, what);
        lua_pop(L, 1);
    }
}

/* The element of an array of the stack, which keeps it. */
static char *copy_element(lua_State *L, int idx, size_t i)
{
    lua_rawgeti(L, idx, (int)i + 1);
    char *copy = xstrdup(own_text(L, -1));
    lua_pop(L, 1);
    return copy;
}

/* Reads the rule's uses of other objects from the array at `idx`: name, informer and index in turns. */
static void take_uses(lua_State *L, int idx, struct script_rule *rule)
{
    size_t count = lua_objlen(L, idx) / 3;
    rule->uses = xcalloc(count + 1, sizeof *rule->uses);
    rule->use_count = count;
    rule->has_uses = count > 0;
    for (size_t i = 0; i < count; i++) {
        struct rule_use *use = &rule->uses[i];
        lua_rawgeti(L, idx, (int)i * 3 + 2);
        use->claim = informer_arg(L, -1, "k8s.rule: uses");
        lua_pop(L, 1);
        use->name = copy_element(L, idx, i * 3);
        use->index = copy_element(L, idx, i * 3 + 2);
    }
}

/* False: nothing may be accepted; else days, 0 for any, and handler options or nil. Borrowed. */
static struct rule_ignore ignore_arg(lua_State *L)
{
    bool forbidden = lua_isboolean(L, ARG_IGNORE_DAYS);
    bool all = lua_isnil(L, ARG_IGNORE_NAMESPACES);
    return (struct rule_ignore){forbidden, forbidden ? 0 : (int)lua_tointeger(L, ARG_IGNORE_DAYS),
                                all ? NULL : handler_options_arg(L, ARG_IGNORE_NAMESPACES)};
}

/* new(id, title, severity, category, why, how, informers, handler options, uses, check, skip, fix,
 * params, what `uses` is made of, what its results depend on, days and namespaces of `ignore`)
 */
static int l_rule_new(lua_State *L)
{
    struct script_rule rule = {0};
    arg_loading(L, "k8s.rule");
    lua_settop(L, ARG_IGNORE_NAMESPACES);
    const char *id = id_arg(L, ARG_ID), *title = text_arg(L, ARG_TITLE, "k8s.rule: title"),
               *category = text_arg(L, ARG_CATEGORY, "k8s.rule: category"),
               *why = text_arg(L, ARG_WHY, "k8s.rule: why"), *how = text_arg(L, ARG_HOW, "k8s.rule: how");
    check_new(L, id);
    rule.severity = severity_arg(L, ARG_SEVERITY);
    rule.kind_count = kinds_arg(L, ARG_KINDS, rule.kinds);
    struct handler_options *options = handler_options_arg(L, ARG_OPTIONS);
    if (!options) script_raise(L, "k8s.rule: no options");
    rule.ignore = ignore_arg(L);
    check_texts(L, ARG_USES, "k8s.rule: uses: the name", 1);
    rule.has_skip = !lua_isnil(L, ARG_SKIP);
    rule.has_fix = !lua_isnil(L, ARG_FIX);
    rule.use = ref_arg(L, ARG_USE);
    rule.check = ref_arg(L, ARG_CHECK);
    rule.skip = ref_arg(L, ARG_SKIP);
    rule.fix = ref_arg(L, ARG_FIX);
    rule.values = ref_arg(L, ARG_VALUES);
    rule.code = ref_arg(L, ARG_CODE);
    take_uses(L, ARG_USES, &rule);
    rule.options = handler_options_ref(options);
    if (rule.ignore.namespaces) handler_options_ref(rule.ignore.namespaces);
    rule.id = xstrdup(id);
    rule.title = xstrdup(title);
    rule.category = xstrdup(category);
    rule.why = xstrdup(why);
    rule.how = xstrdup(how);
    struct script_rules *rules = script_of(L)->own.rules;
    *array_add(rules->items, rules->count) = rule;
    return 0;
}

/* claimed(informer): it is of a rule. */
static int l_rule_claimed(lua_State *L)
{
    struct informer_claim *claim = informer_arg(L, 1, "k8s.rule");
    if (!script_of(L)->host->runs_rules) claim_suspend(claim, true);
    return 0;
}

/* looks(number, value): its check is about to look at what `uses` number so much finds. */
static int l_rule_depends_on(lua_State *L)
{
    struct script *script = script_of(L);
    const struct rule_run *run = script->own.rules->run;
    lua_settop(L, 2);
    if (!run || !run->sink || !run->sink->depends_on) return 0;
    size_t use = (size_t)lua_tointeger(L, 1) - 1;
    if (use >= run->rule->use_count) return 0;
    struct buf *text = script_scratch(script);
    if (lua_isnil(L, 2) || index_value_text(L, 2, text))
        run->sink->depends_on(run->sink->ctx, use, buf_slice(text));
    return 0;
}

/* --- what a rule says */

/* The options { path, value } at index 3; texts stay on the stack or in the scratch. */
static void take_options(lua_State *L, const char *verb, struct rule_finding *finding)
{
    if (lua_isnoneornil(L, 3)) return;
    if (!lua_istable(L, 3)) script_raise(L, "%s: options must be a table, not %s", verb, arg_type_name(L, 3));
    lua_pushnil(L);
    while (lua_next(L, 3)) {
        struct str name = lua_type(L, -2) == LUA_TSTRING ? arg_bytes(L, -2, verb) : STR("");
        if (!str_is(name, "path") && !str_is(name, "value"))
            script_raise(L, "%s: unknown option \"%.40s\", known are path, value", verb, name.p);
        lua_pop(L, 1);
    }
    lua_pushliteral(L, "path");
    lua_rawget(L, 3); /* of the fields that were looked at */
    finding->path = arg_bytes_opt(L, -1, "path");
    if (finding->path.n > PATH_MAX_BYTES)
        script_raise(L, "%s: path must have at most %d bytes, not %zu", verb, PATH_MAX_BYTES,
                     finding->path.n);
    lua_pushliteral(L, "value");
    lua_rawget(L, 3);
    if (lua_isnil(L, -1)) return;
    const struct buf *json = json_describe(L, lua_gettop(L));
    finding->value = buf_slice(json);
    if (finding->value.n > VALUE_MAX) finding->value.n = 0; /* nobody reads so much in a report */
}

struct str rule_message(lua_State *L, int idx)
{
    struct str message;
    message.p = lua_tolstring(L, idx, &message.n);
    if (message.n <= MESSAGE_MAX) return message;
    message.n = MESSAGE_MAX;
    while (message.n > 0 && ((unsigned char)message.p[message.n] & 0xc0) == 0x80) message.n--;
    lua_pushlstring(L, message.p, message.n);
    lua_pushliteral(L, "...");
    lua_concat(L, 2);
    message.p = lua_tolstring(L, -1, &message.n);
    return message;
}

static int report(lua_State *L, const char *verb, enum verdict verdict)
{
    struct rule_run *run = script_of(L)->own.rules->run;
    struct rule_finding finding = {.verdict = verdict};
    if (!run || !run->sink) script_raise(L, "%s: called after the rule returned", verb);
    lua_settop(L, 3);
    push_ref(L, script_of(L), REF_RULE_RESULT);
    if (!lua_rawequal(L, 1, 4)) script_raise(L, "%s: methods are called with ':'", verb);
    if (run->findings == RULE_FINDINGS_MAX)
        script_raise(L, "%s: more than %d findings for one object", verb, RULE_FINDINGS_MAX);
    bool optional = verdict == VERDICT_PASS || verdict == VERDICT_SKIP;
    finding.message = optional ? arg_bytes_opt(L, 2, verb) : arg_bytes(L, 2, verb);
    if (finding.message.n) finding.message = rule_message(L, 2);
    if (verdict != VERDICT_PASS) take_options(L, verb, &finding);
    rule_report(run, &finding);
    return 0;
}

static int l_rule_pass(lua_State *L)
{
    return report(L, "r:pass", VERDICT_PASS);
}

static int l_rule_fail(lua_State *L)
{
    return report(L, "r:fail", VERDICT_FAIL);
}

static int l_rule_warn(lua_State *L)
{
    return report(L, "r:warn", VERDICT_WARN);
}

static int l_rule_skip(lua_State *L)
{
    return report(L, "r:skip", VERDICT_SKIP);
}

/* result(table): what rules are handed to say it by. */
static int l_rule_result(lua_State *L)
{
    lua_settop(L, 1);
    set_ref(L, REF_RULE_RESULT);
    return 0;
}

static void bind_rule(lua_State *L)
{
    static const luaL_Reg verbs[] = {{"new", l_rule_new},
                                     {"claimed", l_rule_claimed},
                                     {"depends_on", l_rule_depends_on},
                                     {"result", l_rule_result},
                                     {NULL, NULL}};
    static const luaL_Reg result_methods[] = {{"pass", l_rule_pass},
                                              {"fail", l_rule_fail},
                                              {"warn", l_rule_warn},
                                              {"skip", l_rule_skip},
                                              {NULL, NULL}};
    lua_newtable(L);
    luaL_register(L, NULL, verbs);
    lua_newtable(L);
    luaL_register(L, NULL, result_methods);
    lua_setfield(L, -2, "methods");
    lua_setfield(L, -2, "rule");
}

const struct feature feature_rule = {
    .parts = {"rule"}, .bind = bind_rule, FEATURE_OWNS(rules), .close = rules_clear};
