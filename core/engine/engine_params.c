/* Whether rules take all the parameters that the operator gave; see engine_internal.h. */
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "engine/engine_internal.h"
#include "script/rules/rule_params.h"

/* Whether a place has what runs, though a candidate waits. */
typedef bool keeps_fn(const struct slot *slot, const struct slot *which);

static bool is_same(const struct slot *slot, const struct slot *which)
{
    return slot == which;
}

static bool runs(const struct slot *slot, const struct slot *which)
{
    (void)which;
    return slot->current != NULL;
}

static struct script *script_in(const struct slot *slot, keeps_fn *keeps, const struct slot *which)
{
    if (slot->gone) return NULL;
    return slot->candidate && !keeps(slot, which) ? slot->candidate : slot->current;
}

static bool all_taken(const struct engine *engine, keeps_fn *keeps, const struct slot *which, struct err *err)
{
    struct script **scripts = xcalloc(engine->slots.count + 1, sizeof(struct script *));
    size_t count = 0;
    for (size_t i = 0; i < engine->slots.count; i++) {
        struct script *script = script_in(engine->slots.items[i], keeps, which);
        if (script) scripts[count++] = script;
    }
    bool ok = rule_params_check(engine->host.params, scripts, count, err);
    free(scripts);
    return ok;
}

bool engine_check_params(const struct engine *engine, struct err *err)
{
    return all_taken(engine, runs, NULL, err);
}

bool engine_params_stay(void *ctx, const struct slot *slot, struct err *err)
{
    const struct engine *engine = ctx;
    struct err other;
    if (all_taken(engine, is_same, NULL, err)) return true;
    if (!all_taken(engine, is_same, slot, &other)) return true;
    return err_wrap(err, "%s", slot->path);
}

void engine_warn_params(struct engine *engine)
{
    struct err err;
    bool ok = engine_check_params(engine, &err);
    if (!ok && !engine->params_told) log_warn("A parameter is of no rule any more", F("err", err.text));
    engine->params_told = !ok;
}
