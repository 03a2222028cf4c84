/* Steps about the server itself: faults, settings, history, open watches. */
#include <string.h>

#include "base/mem.h"
#include "sim/scenario/pick.h"
#include "sim/scenario/verbs.h"
#include "sim/store/fault.h"
#include "sim/store/shard.h"
#include "sim/text/duration.h"
#include "sim/text/tree.h"

static char *text(const struct sim_step *step, const char *key)
{
    return xstrdup(json_string_value(json_object_get(step->params, key)));
}

/* Returns the plural name of a resource, by which rules are compared; it need not exist yet. */
static char *plural(struct sim_stage *stage, const struct sim_step *step)
{
    const char *name = sim_text_at(step->params, "resource");
    if (!*name) return NULL;
    sim_store_lock(stage->api->store);
    struct sim_served *served = sim_store_lookup(stage->api->store, name);
    sim_store_unlock(stage->api->store);
    return xstrdup(served ? served->kind->plural : name);
}

bool sim_verb_fault(struct sim_stage *stage, const struct sim_step *step, size_t n, struct err *err)
{
    struct sim_fault fault = {.verb = text(step, "verb"),
                              .resource = plural(stage, step),
                              .namespace_ = text(step, "namespace"),
                              .path = text(step, "path"),
                              .skip = (size_t)sim_int_at(step->params, "skip", 0),
                              .times = (size_t)sim_int_at(step->params, "times", 1)};
    sim_wrong_read(step->params, &fault.wrong);
    sim_faults_add(stage->api->faults, &fault);
    return true;
}

bool sim_verb_clear(struct sim_stage *stage, const struct sim_step *step, size_t n, struct err *err)
{
    sim_faults_clear(stage->api->faults);
    return true;
}

bool sim_verb_inject(struct sim_stage *stage, const struct sim_step *step, size_t n, struct err *err)
{
    struct sim_served *served = sim_pick_resource(stage, step, err);
    struct sim_wrong wrong;
    struct sim_watcher *watcher;
    if (!served) return false;
    sim_wrong_read(step->params, &wrong);
    struct sim_action *action = sim_wrong_action(&wrong, stage->api, served, NULL, true);
    sim_store_lock(stage->api->store);
    TAILQ_FOREACH (watcher, &served->resource->watchers, link) {
        struct sim_action *copy = sim_action_copy(action);
        STAILQ_INSERT_TAIL(&watcher->actions, copy, link);
        sim_watcher_wake(watcher);
    }
    sim_store_unlock(stage->api->store);
    sim_action_free(action);
    sim_wrong_clear(&wrong);
    return true;
}

bool sim_verb_compact(struct sim_stage *stage, const struct sim_step *step, size_t n, struct err *err)
{
    sim_store_lock(stage->api->store);
    sim_store_compact(stage->api->store);
    sim_store_unlock(stage->api->store);
    return true;
}

/* Does that to the step's resource, or to all (NULL) if it has none; false if there is none of that name. */
static bool to_resource(struct sim_stage *stage, const struct sim_step *step,
                        void (*fn)(struct sim_store *store, struct sim_resource *resource), struct err *err)
{
    bool all = !json_object_get(step->params, "resource");
    struct sim_served *served = all ? NULL : sim_pick_resource(stage, step, err);
    if (!all && !served) return false;
    sim_store_lock(stage->api->store);
    fn(stage->api->store, all ? NULL : served->resource);
    sim_store_unlock(stage->api->store);
    return true;
}

bool sim_verb_expire(struct sim_stage *stage, const struct sim_step *step, size_t n, struct err *err)
{
    return to_resource(stage, step, sim_store_expire, err);
}

bool sim_verb_end_watches(struct sim_stage *stage, const struct sim_step *step, size_t n, struct err *err)
{
    return to_resource(stage, step, sim_store_end_watches, err);
}

bool sim_verb_refuse(struct sim_stage *stage, const struct sim_step *step, size_t n, struct err *err)
{
    int64_t ms = 0;
    sim_duration_read(json_object_get(step->params, "for"), &ms);
    stage->refuse(stage->ctx, ms);
    return true;
}

bool sim_verb_set(struct sim_stage *stage, const struct sim_step *step, size_t n, struct err *err)
{
    struct sim_settings *settings = &stage->api->settings;
    const json_t *watch_cache = json_object_get(step->params, "watch_cache"),
                 *gzip = json_object_get(step->params, "gzip");
    int64_t ms;
    if (sim_duration_read(json_object_get(step->params, "bookmarks"), &ms))
        atomic_store(&settings->bookmark_ms, ms);
    if (sim_duration_read(json_object_get(step->params, "terminate"), &ms))
        atomic_store(&settings->terminate_ms, ms);
    if (watch_cache) atomic_store(&settings->watch_cache, json_is_true(watch_cache));
    if (gzip) atomic_store(&settings->gzip, json_is_true(gzip));
    enum sim_sharding sharding = settings->sharding;
    const char *shards = sim_text_at(step->params, "shards");
    if (*shards && !sim_sharding_read(shards, &sharding))
        return err_set(err, ERR_INVALID, "shards: expected off, on or unsaid, got \"%s\"", shards);
    atomic_store(&settings->sharding, (int)sharding);
    return true;
}
