/* Reading scenarios, whose steps lua/sim/scenario.lua checks; see scenario.h. */
#include "sim/scenario/scenario.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sim/lua/lua.h"
#include "sim/scenario/verbs.h"
#include "sim/store/load.h"
#include "sim/text/duration.h"
#include "sim/text/tree.h"

enum { DEFAULT_SEED = 1 };

/* duration(value): milliseconds; nil if it is none. */
static int l_duration(lua_State *L)
{
    int64_t ms;
    json_t *value = sim_lua_value(L, 1);
    if (sim_duration_read(value, &ms))
        lua_pushnumber(L, (lua_Number)ms);
    else
        lua_pushnil(L);
    json_decref(value);
    return 1;
}

static int l_is_size(lua_State *L)
{
    size_t bytes;
    json_t *value = sim_lua_value(L, 1);
    lua_pushboolean(L, sim_size_read(value, &bytes));
    json_decref(value);
    return 1;
}

static void take_steps(struct sim_scenario *scenario, const json_t *found)
{
    const json_t *document = scenario->document,
                 *steps = json_is_array(document) ? document : json_object_get(document, "steps");
    scenario->seed = (uint64_t)sim_int_at(document, "seed", DEFAULT_SEED);
    scenario->count = json_array_size(found);
    scenario->steps = xcalloc(scenario->count + 1, sizeof *scenario->steps);
    for (size_t i = 0; i < scenario->count; i++) {
        const json_t *step = json_array_get(found, i);
        scenario->steps[i] = (struct sim_step){.params = json_array_get(steps, i),
                                               .verb = sim_verb_find(sim_text_at(step, "do")),
                                               .number = i + 1,
                                               .at_ms = sim_int_at(step, "at", 0),
                                               .every_ms = sim_int_at(step, "every", 0),
                                               .count = (size_t)sim_int_at(step, "count", 0)};
    }
}

static bool read_steps(struct sim_scenario *scenario, struct err *err)
{
    lua_State *L = sim_lua_take("sim.scenario", "read");
    sim_lua_push(L, scenario->document);
    lua_pushcfunction(L, l_duration);
    lua_pushcfunction(L, l_is_size);
    json_t *result = sim_lua_call(L), *found = json_array_get(result, 1);
    bool ok = json_is_true(json_array_get(result, 0));
    if (ok)
        take_steps(scenario, found);
    else
        err_set(err, ERR_INVALID, "%s", sim_text_at(found, ""));
    json_decref(result);
    return ok;
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
    if (!scenario) err_in_file(err, path);
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
