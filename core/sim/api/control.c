/* Own paths of the simulator; see control.h. */
#include "sim/api/control.h"

#include <string.h>

#include "base/mem.h"
#include "sim/object/status.h"
#include "sim/scenario/director.h"

static void play(struct sim_api *api, struct str text, struct sim_reply *reply)
{
    struct err err;
    struct sim_scenario *scenario = sim_scenario_parse(text, &err);
    bool ok = scenario && sim_director_run(api->director, scenario, &err);
    sim_reply_status(reply,
                     ok ? sim_status(200, NULL, NULL, NULL, NULL) : sim_status_bad_request("%s", err.text));
}

static void add(json_t *object, const char *key, const atomic_uint_fast64_t *counter)
{
    json_object_set_new(object, key, json_integer((json_int_t)atomic_load(counter)));
}

/* Objects and open watches of each resource that has some. */
json_t *sim_stats_resources(struct sim_api *api)
{
    json_t *result = json_object();
    sim_store_lock(api->store);
    for (const struct sim_resource *r = api->store->resources; r; r = r->next) {
        const struct sim_watcher *watcher;
        json_int_t watches = 0;
        TAILQ_FOREACH (watcher, &r->watchers, link) watches++;
        if (!r->map && !watches) continue;
        json_object_set_new(result, r->kind->plural,
                            json_pack("{sI sI sI}", "objects", (json_int_t)omap_count(r->map), "watches",
                                      watches, "history", (json_int_t)(r->history.next - r->history.first)));
    }
    sim_store_unlock(api->store);
    return result;
}

json_t *sim_stats_json(const struct sim_stats *s)
{
    json_t *result = json_object();
    add(result, "requests", &s->requests);
    add(result, "lists", &s->lists);
    add(result, "watches", &s->watches);
    add(result, "watch_lists", &s->watch_lists);
    add(result, "gets", &s->gets);
    add(result, "writes", &s->writes);
    add(result, "events", &s->events);
    add(result, "bookmarks", &s->bookmarks);
    add(result, "bytes", &s->bytes);
    add(result, "faults", &s->faults);
    json_object_set_new(result, "open_watches", json_integer((json_int_t)atomic_load(&s->open_watches)));
    return result;
}

static void stats(struct sim_api *api, struct sim_reply *reply)
{
    json_t *result = sim_stats_json(&api->stats);
    json_object_set_new(result, "scenarios", json_integer((json_int_t)sim_director_running(api->director)));
    sim_store_lock(api->store);
    json_object_set_new(result, "version", json_integer((json_int_t)api->store->version));
    sim_store_unlock(api->store);
    json_object_set_new(result, "resources", sim_stats_resources(api));
    reply->code = 200;
    reply->json = result;
}

bool sim_control(struct sim_api *api, const struct sim_request *request, struct sim_reply *reply)
{
    bool post = strcmp(request->method, "POST") == 0;
    if (post && strcmp(request->path, "/sim/scenario") == 0)
        play(api, request->body, reply);
    else if (post && strcmp(request->path, "/sim/compact") == 0)
        play(api, STR("[{\"do\":\"compact\"}]"), reply);
    else if (strcmp(request->method, "GET") == 0 && strcmp(request->path, "/sim/stats") == 0)
        stats(api, reply);
    else
        return sim_life_serves(api, request, NULL, reply);
    return true;
}
