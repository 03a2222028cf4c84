/* Parameters of rules as an operator gives them; see rule_params.h. */
#include "script/rules/rule_params.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/text/json_out.h"
#include "base/text/nearest.h"
#include "base/yaml/yaml_documents.h"
#include "base/yaml/yaml_file.h"
#include "script/rules/rule.h"
#include "script/rules/rule_value.h"

struct given {
    char *rule, *name; /* `rule` NULL: of every rule that declares it */
    char *value;
    bool is_json; /* of a file; else it is as it was written */
    char *source; /* "--param restarts", "params.yaml:3: restarts" */
};

struct rule_params {
    struct given *items;
    size_t count;
};

struct rule_params *rule_params_new(void)
{
    return NEW(struct rule_params);
}

static void given_clear(struct given *given)
{
    free(given->rule);
    free(given->name);
    free(given->value);
    free(given->source);
}

void rule_params_free(struct rule_params *params)
{
    if (!params) return;
    for (size_t i = 0; i < params->count; i++) given_clear(&params->items[i]);
    free(params->items);
    free(params);
}

/* --- what is given */

static bool is_of(const struct given *given, const char *rule, struct str name)
{
    if (!given->rule != !rule || (rule && strcmp(given->rule, rule) != 0)) return false;
    return str_is(name, given->name);
}

/* Takes what `given` owns. */
static void put(struct rule_params *params, const struct given *given)
{
    for (size_t i = 0; i < params->count; i++) {
        if (!is_of(&params->items[i], given->rule, str_of(given->name))) continue;
        given_clear(&params->items[i]);
        params->items[i] = *given;
        return;
    }
    *array_add(params->items, params->count) = *given;
}

/* "rule.name" in two; ids of rules may have dots, names of parameters do not. */
static bool split(struct str key, struct given *out, struct err *err)
{
    const char *dot = key.n ? memrchr(key.p, '.', key.n) : NULL;
    struct str name = key;
    if (dot) name = (struct str){dot + 1, (size_t)(key.p + key.n - dot) - 1};
    if (name.n == 0 || dot == key.p || str_has_nul(key))
        return err_set(err, ERR_INVALID, "\"%.*s\" must have the form NAME or RULE.NAME", STR_ARG(key));
    out->rule = dot ? xstrndup(key.p, (size_t)(dot - key.p)) : NULL;
    out->name = xstrndup(name.p, name.n);
    return true;
}

bool rule_params_add(struct rule_params *params, const char *assignment, struct err *err)
{
    struct str rest = str_of(assignment), key;
    struct given given = {0};
    str_cut(&rest, '=', &key);
    if (!rest.p)
        return err_set(err, ERR_INVALID, "--param %.80s: expected NAME=VALUE or RULE.NAME=VALUE", assignment);
    if (!split(key, &given, err)) return err_wrap(err, "--param %.80s", assignment);
    given.value = xstrdup(rest.p);
    given.source = xasprintf("--param %.*s", STR_ARG(key));
    put(params, &given);
    return true;
}

/* --- from one process to another */

size_t rule_params_count(const struct rule_params *params)
{
    return params ? params->count : 0;
}

struct rule_param_given rule_params_at(const struct rule_params *params, size_t i)
{
    const struct given *given = &params->items[i];
    return (struct rule_param_given){given->rule, given->name, given->value, given->is_json, given->source};
}

void rule_params_put(struct rule_params *params, const struct rule_param_given *given)
{
    put(params, &(const struct given){.rule = given->rule ? xstrdup(given->rule) : NULL,
                                      .name = xstrdup(given->name),
                                      .value = xstrdup(given->value),
                                      .is_json = given->is_json,
                                      .source = xstrdup(given->source)});
}

/* --- files */

struct params_reading {
    struct rule_params *params;
    struct yaml_file file;
    struct err *err;
};

static bool read_value(struct params_reading *r, const char *rule, struct str key, yaml_node_t *node)
{
    size_t line = node->start_mark.line + 1;
    struct given given = {.is_json = true};
    struct buf json = {0};
    if (!split(key, &given, r->err)) return err_wrap(r->err, "%s:%zu", r->file.path, line);
    if (rule && !given.rule) given.rule = xstrdup(rule);
    given.source = xasprintf("%s:%zu: %s%s%s", r->file.path, line, given.rule ? given.rule : "",
                             given.rule ? "." : "", given.name);
    if (!yaml_json_whole(&r->file, node, &json) || json.len > RULE_PARAM_BYTES_MAX) {
        buf_clear(&json);
        err_set(r->err, ERR_LIMIT, "%s: value exceeds %d bytes of JSON", given.source, RULE_PARAM_BYTES_MAX);
        given_clear(&given);
        return false;
    }
    given.value = xstrdup(buf_text(&json));
    buf_clear(&json);
    put(r->params, &given);
    return true;
}

static bool read_map(struct params_reading *r, yaml_node_t *map, const char *rule);

static bool read_rule(struct params_reading *r, struct str key, yaml_node_t *map)
{
    if (str_has_nul(key))
        return err_set(r->err, ERR_INVALID, "%s:%zu: the id of a rule must not contain a NUL byte",
                       r->file.path, map->start_mark.line + 1);
    char *id = xstrndup(key.p ? key.p : "", key.n);
    bool ok = read_map(r, map, id);
    free(id);
    return ok;
}

static bool read_map(struct params_reading *r, yaml_node_t *map, const char *rule)
{
    yaml_node_t *node;
    struct str key;
    for (size_t i = 0; (node = yaml_next_entry(&r->file, map, &i, &key));) {
        bool is_rule = !rule && node->type == YAML_MAPPING_NODE;
        if (!(is_rule ? read_rule(r, key, node) : read_value(r, rule, key, node))) return false;
    }
    return true;
}

bool rule_params_read(struct rule_params *params, const char *path, struct err *err)
{
    struct params_reading r = {.params = params, .err = err};
    if (!yaml_file_load(&r.file, path, err)) return false;
    yaml_node_t *root = yaml_file_root(&r.file);
    bool ok = yaml_form(root) == YAML_FORM_NULL;
    if (!ok && root->type == YAML_MAPPING_NODE)
        ok = read_map(&r, root, NULL);
    else if (!ok)
        err_set(err, ERR_INVALID, "%s:%zu: expected a map of parameters, or of rules to such maps", path,
                root->start_mark.line + 1);
    yaml_file_clear(&r.file);
    return ok;
}

/* --- what a rule makes of it */

static const struct given *find(const struct rule_params *params, const char *rule, struct str name)
{
    for (size_t i = 0; params && i < params->count; i++)
        if (is_of(&params->items[i], rule, name)) return &params->items[i];
    return NULL;
}

bool rule_params_value(const struct rule_params *params, const char *rule, struct str name,
                       struct str fallback, struct buf *out, struct err *err)
{
    const struct given *given = find(params, rule, name);
    if (!given) given = find(params, NULL, name);
    if (!given) {
        buf_str(out, fallback);
        return true;
    }
    if (rule_value_read(str_of(given->value), given->is_json, fallback, out, err)) return true;
    return err_wrap(err, "%s", given->source);
}

/* --- what no rule takes */

static bool declares(const struct script_rule *rule, const char *name)
{
    for (size_t i = 0; i < rule->param_count; i++)
        if (strcmp(rule->params[i].name, name) == 0) return true;
    return false;
}

bool rule_params_is_taken(const struct rule_param_given *given, const struct script *script)
{
    for (size_t i = 0; i < script_rule_count(script); i++) {
        const struct script_rule *rule = script_rule(script, i);
        if ((!given->rule || strcmp(given->rule, rule->id) == 0) && declares(rule, given->name)) return true;
    }
    return false;
}

/* Search for the rule that declares a parameter. */
struct param_search {
    const struct given *given;
    struct nearest rule, name; /* that may have been meant */
    bool has_rule, found;
};

static void search_rule(struct param_search *search, const struct script_rule *rule)
{
    const struct given *given = search->given;
    bool is_meant = !given->rule || strcmp(given->rule, rule->id) == 0;
    nearest_try(&search->rule, rule->id);
    if (!is_meant) return;
    search->has_rule = true;
    search->found = search->found || declares(rule, given->name);
    for (size_t i = 0; i < rule->param_count; i++) nearest_try(&search->name, rule->params[i].name);
}

static bool complain(const struct param_search *search, struct err *err)
{
    const struct given *given = search->given;
    const char *near = search->has_rule ? search->name.name : search->rule.name;
    if (!search->has_rule)
        err_set(err, ERR_INVALID, "%s: no rule has the id \"%s\"", given->source, given->rule);
    else if (given->rule)
        err_set(err, ERR_INVALID, "%s: the rule %s has no parameter \"%s\"", given->source, given->rule,
                given->name);
    else
        err_set(err, ERR_INVALID, "%s: no rule has a parameter \"%s\"", given->source, given->name);
    return near ? err_append(err, ", did you mean \"%s\"?", near) : false;
}

bool rule_params_check(const struct rule_params *params, struct script *const *scripts, size_t count,
                       struct err *err)
{
    for (size_t i = 0; params && i < params->count; i++) {
        const struct given *given = &params->items[i];
        struct param_search search = {.given = given,
                                      .rule = nearest_to(str_of(given->rule ? given->rule : "")),
                                      .name = nearest_to(str_of(given->name)),
                                      .has_rule = !given->rule};
        for (size_t j = 0; j < count; j++)
            for (size_t k = 0; k < script_rule_count(scripts[j]); k++)
                search_rule(&search, script_rule(scripts[j], k));
        if (!search.found) return complain(&search, err);
    }
    return true;
}
