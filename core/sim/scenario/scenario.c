/* Reading scenarios; see scenario.h. */
#include "sim/scenario/scenario.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sim/scenario/verbs.h"
#include "sim/store/load.h"
#include "sim/text/duration.h"
#include "sim/text/tree.h"

enum { DEFAULT_SEED = 1 };

/* Parameters of every step, and of those that select objects. */
static const char common[] = "do:text! at:duration every:duration count:count comment:text";
static const char selection[] =
    "resource:text! namespace:text name:text selector:text pick:pick patient:bool";

static bool is_count(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) >= 0;
}

static bool is_pick(const json_t *value)
{
    return is_count(value) || (json_is_string(value) && strcmp(json_string_value(value), "all") == 0);
}

static const struct scenario_type {
    const char *name, *text;
} types[] = {
    {"text", "a string"},
    {"count", "a whole number that is not negative"},
    {"bool", "true or false"},
    {"duration", "a duration such as \"250ms\" or \"2s\""},
    {"size", "a size such as \"9Mi\""},
    {"object", "an object"},
    {"array", "an array"},
    {"pick", "a whole number, or \"all\""},
};

static bool has_type(const json_t *value, const struct scenario_type *type)
{
    int64_t ms;
    size_t bytes;
    switch (type->name[0]) {
    case 't': return json_is_string(value);
    case 'c': return is_count(value);
    case 'b': return json_is_boolean(value);
    case 'd': return sim_duration_read(value, &ms);
    case 's': return sim_size_read(value, &bytes);
    case 'o': return json_is_object(value);
    case 'a': return json_is_array(value);
    default: return is_pick(value);
    }
}

struct param {
    struct str key;
    const struct scenario_type *type;
    bool required;
};

/* Returns the next one of a list; false at its end. */
static bool next_param(struct str *rest, struct param *param)
{
    struct str word;
    if (!rest->n || !str_cut(rest, ' ', &word)) return false;
    str_cut(&word, ':', &param->key);
    param->required = str_ends(word, STR("!"));
    word.n -= param->required;
    param->type = types;
    while (!str_is(word, param->type->name)) param->type++;
    return true;
}

static bool find_param(const char *list, const char *key, struct param *param)
{
    struct str rest = str_of(list);
    while (next_param(&rest, param))
        if (str_is(param->key, key)) return true;
    return false;
}

static bool check_keys(const json_t *params, const struct sim_verb *verb, struct err *err)
{
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)params, key, value) {
        struct param param;
        if (!find_param(common, key, &param) && !find_param(verb->params, key, &param) &&
            !(verb->selects && find_param(selection, key, &param)))
            return err_set(err, ERR_INVALID, "unknown parameter \"%s\"", key);
        if (!has_type(value, param.type))
            return err_set(err, ERR_INVALID, "\"%s\" is not %s", key, param.type->text);
    }
    return true;
}

static bool check_required(const json_t *params, const char *list, struct err *err)
{
    struct str rest = str_of(list);
    struct param param;
    while (next_param(&rest, &param))
        if (param.required && !json_object_getn(params, param.key.p, param.key.n))
            return err_set(err, ERR_INVALID, "\"%.*s\" is missing", STR_ARG(param.key));
    return true;
}

static bool find_verb(const json_t *params, struct sim_step *step, struct err *err)
{
    const char *name = sim_text_at(params, "do");
    struct buf known = {0};
    if (!json_is_object(params)) return err_set(err, ERR_INVALID, "it is not an object");
    if (!*name) return err_set(err, ERR_INVALID, "\"do\" is missing");
    if ((step->verb = sim_verb_find(name))) return true;
    sim_verb_names(&known);
    err_set(err, ERR_INVALID, "unknown step \"%s\"; must be one of %s", name, buf_text(&known));
    buf_clear(&known);
    return false;
}

static bool read_times(const json_t *params, struct sim_step *step, struct err *err)
{
    json_t *every = json_object_get(params, "every"), *count = json_object_get(params, "count");
    sim_duration_read(json_object_get(params, "at"), &step->at_ms);
    sim_duration_read(every, &step->every_ms);
    step->count = count ? (size_t)json_integer_value(count) : every ? 0 : 1;
    if (every && step->every_ms == 0 && !count)
        return err_set(err, ERR_INVALID, "\"every\" is 0, and \"count\" is missing");
    return !count || step->count || err_set(err, ERR_INVALID, "\"count\" is 0");
}

static bool read_step(const json_t *params, struct sim_step *step, struct err *err)
{
    step->params = params;
    if (!find_verb(params, step, err)) return err_wrap(err, "step %zu", step->number);
    bool ok = check_keys(params, step->verb, err) && check_required(params, step->verb->params, err) &&
              (!step->verb->selects || check_required(params, selection, err)) &&
              (!step->verb->check || step->verb->check(params, err)) && read_times(params, step, err);
    return ok || err_wrap(err, "step %zu (%s)", step->number, step->verb->name);
}

static bool read_steps(struct sim_scenario *scenario, struct err *err)
{
    json_t *steps =
        json_is_array(scenario->document) ? scenario->document : json_object_get(scenario->document, "steps");
    if (!json_is_array(steps))
        return err_set(err, ERR_INVALID, "a scenario is an array of steps, or an object with \"steps\"");
    scenario->seed = (uint64_t)sim_int_at(scenario->document, "seed", DEFAULT_SEED);
    scenario->count = json_array_size(steps);
    scenario->steps = xcalloc(scenario->count + 1, sizeof *scenario->steps);
    for (size_t i = 0; i < scenario->count; i++) {
        scenario->steps[i].number = i + 1;
        if (!read_step(json_array_get(steps, i), &scenario->steps[i], err)) return false;
    }
    return true;
}

struct sim_scenario *sim_scenario_parse(struct str text, struct err *err)
{
    struct sim_scenario *scenario = NEW(struct sim_scenario);
    json_error_t error;
    scenario->document = json_loadb(text.n ? text.p : "", text.n, JSON_REJECT_DUPLICATES, &error);
    if (!scenario->document)
        err_set(err, ERR_PARSE, "line %d: %s", error.line, error.text);
    else if (read_steps(scenario, err))
        return scenario;
    sim_scenario_free(scenario);
    return NULL;
}

struct sim_scenario *sim_scenario_load(const char *path, struct err *err)
{
    struct buf text = {0};
    struct sim_scenario *scenario = NULL;
    if (!sim_file_read(path, &text, err)) return NULL;
    scenario = sim_scenario_parse(buf_slice(&text), err);
    if (!scenario) err_wrap(err, "%s", path);
    buf_clear(&text);
    return scenario;
}

void sim_scenario_free(struct sim_scenario *scenario)
{
    if (!scenario) return;
    json_decref(scenario->document);
    free(scenario->steps);
    free(scenario);
}
