/* Declared parameters, and values that nothing declares; see declared.h. */
#include "script/params/declared.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/nearest.h"
#include "script/params/script_params.h"
#include "script/vm/script_name.h"
#include "script/vm/state.h"

size_t script_param_count(const struct script *script)
{
    return script->own.params->count;
}

const struct declared_param *script_param(const struct script *script, size_t i)
{
    return &script->own.params->items[i];
}

bool param_is_of(const struct declared_param *param, const char *rule)
{
    return rule ? param->rule && strcmp(param->rule, rule) == 0 : !param->rule;
}

/* A variable of the environment has no "-" in its name. */
static bool is_variable_of(const char *variable, const char *name)
{
    for (; *variable && *name; variable++, name++)
        if (toupper((unsigned char)*variable) != (*name == '-' ? '_' : toupper((unsigned char)*name)))
            return false;
    return *variable == *name;
}

static bool has_name(const struct param_given *given, const char *name)
{
    return given->order < PARAM_FROM_FILES ? is_variable_of(given->name, name)
                                           : strcmp(given->name, name) == 0;
}

static bool is_for(const struct param_given *given, const struct script *script)
{
    return !given->script || script_goes_by(str_of(given->script), script->id.name, script->id.path);
}

bool param_matches(const struct param_given *given, const struct script *script,
                   const struct declared_param *param)
{
    return has_name(given, param->name) && is_for(given, script) &&
           (!given->rule || param_is_of(param, given->rule));
}

bool param_is_taken(const struct param_given *given, const struct script *script)
{
    for (size_t i = 0; i < script_param_count(script); i++)
        if (param_matches(given, script, script_param(script, i))) return true;
    return false;
}

bool param_is_secret(const struct param_given *given, const struct script *script)
{
    for (size_t i = 0; i < script_param_count(script); i++) {
        const struct declared_param *param = script_param(script, i);
        if (param->is_secret && param_matches(given, script, param)) return true;
    }
    return false;
}

/* --- what nothing declares */

/* Search for what declares a parameter. */
struct param_search {
    const struct param_given *given;
    struct nearest script, rule, name; /* that may have been meant */
    bool has_script, has_rule;
    const struct script *owner; /* of `found` */
    const struct declared_param *found;
    bool differs; /* `other` has another type, or another name */
    const struct script *other_owner;
    const struct declared_param *other;
};

/* The last part of the name, by which a flag may mean it. */
static const char *short_name(const struct script *script)
{
    const char *slash = strrchr(script->id.name, '/');
    return slash ? slash + 1 : script->id.name;
}

static void note_found(struct param_search *search, const struct script *script,
                       const struct declared_param *param)
{
    if (!search->found) {
        search->found = param;
        search->owner = script;
        return;
    }
    bool same =
        strcmp(param->type, search->found->type) == 0 && strcmp(param->name, search->found->name) == 0;
    if (same || search->differs) return;
    search->differs = true;
    search->other = param;
    search->other_owner = script;
}

static void search_script(struct param_search *search, const struct script *script)
{
    const struct param_given *given = search->given;
    nearest_try(&search->script, short_name(script));
    if (!is_for(given, script)) return;
    search->has_script = true;
    for (size_t i = 0; i < script_param_count(script); i++) {
        const struct declared_param *param = script_param(script, i);
        if (param->rule) nearest_try(&search->rule, param->rule);
        if (given->rule && !param_is_of(param, given->rule)) continue;
        search->has_rule = true;
        nearest_try(&search->name, param->name);
        if (has_name(given, param->name)) note_found(search, script, param);
    }
}

static bool complain(const struct param_search *search, struct err *err)
{
    const struct param_given *given = search->given;
    const char *near = !search->has_script                ? search->script.name
                       : given->rule && !search->has_rule ? search->rule.name
                                                          : search->name.name;
    if (!search->has_script)
        err_set(err, ERR_INVALID, "%s: no script has the name \"%s\"", given->source, given->script);
    else if (given->rule && !search->has_rule)
        err_set(err, ERR_INVALID, "%s: no rule with the id \"%s\" has parameters", given->source,
                given->rule);
    else if (given->rule)
        err_set(err, ERR_INVALID, "%s: the rule %s has no parameter \"%s\"", given->source, given->rule,
                given->name);
    else
        err_set(err, ERR_INVALID, "%s: no %s has a parameter \"%s\"", given->source,
                given->script ? "part of the script" : "script or rule", given->name);
    return near ? err_append(err, ", did you mean \"%s\"?", near) : false;
}

static char *owner_text(const struct script *script, const struct declared_param *param)
{
    return param->rule ? xasprintf("the rule %s", param->rule)
                       : xasprintf("the script %s", short_name(script));
}

/* Two names of which a variable means both, or one name with two types. */
static bool complain_of_two(const struct param_search *search, struct err *err)
{
    const struct declared_param *one = search->found, *other = search->other;
    char *a = owner_text(search->owner, one), *b = owner_text(search->other_owner, other);
    if (strcmp(one->name, other->name) != 0)
        err_set(err, ERR_INVALID, "%s could be %s of %s or %s of %s: use --param or --params",
                search->given->source, one->name, a, other->name, b);
    else
        err_set(err, ERR_INVALID, "%s: %s has %s, and %s has %s: write SCRIPT:%s or RULE.%s",
                search->given->source, a, one->type, b, other->type, one->name, one->name);
    free(a);
    free(b);
    return false;
}

static bool is_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* A generation that asked for no value was given none. */
static bool was_given(const struct script *before, const struct param_given *given)
{
    const struct params *all = before->own.params->given;
    for (size_t i = 0; i < params_count(all); i++) {
        const struct param_given one = params_at(all, i);
        if (is_same(one.script, given->script) && is_same(one.rule, given->rule) &&
            strcmp(one.name, given->name) == 0)
            return true;
    }
    return false;
}

static bool check_given(const struct param_given *given, struct script *const *scripts, size_t count,
                        struct err *err)
{
    struct param_search search = {.given = given,
                                  .script = nearest_to(str_of(given->script ? given->script : "")),
                                  .rule = nearest_to(str_of(given->rule ? given->rule : "")),
                                  .name = nearest_to(str_of(given->name))};
    search.has_script = !given->script;
    for (size_t i = 0; i < count; i++) search_script(&search, scripts[i]);
    if (!search.found) return complain(&search, err);
    return !search.differs || complain_of_two(&search, err);
}

bool params_check_new(const struct params *params, const struct script *before, struct script *const *scripts,
                      size_t count, struct err *err)
{
    for (size_t i = 0; i < params_count(params); i++) {
        const struct param_given given = params_at(params, i);
        if (given.is_loose || (before && was_given(before, &given))) continue;
        if (!check_given(&given, scripts, count, err)) return false;
    }
    return true;
}

bool params_check(const struct params *params, struct script *const *scripts, size_t count, struct err *err)
{
    return params_check_new(params, NULL, scripts, count, err);
}
