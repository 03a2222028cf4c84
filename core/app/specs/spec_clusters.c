/* Clusters of a test beside the home cluster, and which of all is meant; see spec_clusters.h. */
#include "app/specs/spec_clusters.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"

static void note_write(void *ctx, const struct sim_inside_about *about,
                       const struct sim_inside_request *request, const struct sim_inside_response *response)
{
    const struct spec_other *other = ctx;
    other->engine->writing = other->name;
    spec_engine_note_write(other->engine, about, request, response);
    other->engine->writing = NULL;
}

/* The array has its room from the beginning: servers point into it. */
static struct spec_other *add(struct spec_engine *engine, const char *name)
{
    if (!engine->others) engine->others = xcalloc(SPEC_CLUSTERS_MAX, sizeof *engine->others);
    must(engine->other_count < SPEC_CLUSTERS_MAX);
    struct spec_other *other = &engine->others[engine->other_count++];
    *other = (struct spec_other){.engine = engine, .name = xstrdup(name)};
    other->cluster = spec_cluster_new(
        &(struct spec_cluster_options){.loop = engine->loop, .written = note_write, .ctx = other});
    return other;
}

void spec_clusters_new(struct spec_engine *engine, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) add(engine, names[i]);
}

bool spec_cluster_join(struct spec_engine *engine, const char *name, struct err *err)
{
    if (engine->other_count == SPEC_CLUSTERS_MAX)
        return err_set(err, ERR_LIMIT, "more than %d clusters", SPEC_CLUSTERS_MAX);
    struct cluster *home = (struct cluster *)engine_cluster(engine->engine);
    struct cluster *cluster = spec_cluster_connect(add(engine, name), home, true, err);
    if (cluster) engine_join_cluster(engine->engine, cluster);
    return cluster != NULL;
}

struct cluster *spec_cluster_connect(struct spec_other *other, struct cluster *home, bool comes_and_goes,
                                     struct err *err)
{
    struct spec_engine *engine = other->engine;
    struct kube_client_options client;
    static char server[] = "http://cluster.test";
    test_cluster_connect(other->cluster, server, &other->config, &client);
    return cluster_new(&(const struct cluster_options){.engine_loop = engine->loop,
                                                       .io_loop = engine->loop,
                                                       .config = &other->config,
                                                       .server = client.local,
                                                       .settings = &engine->settings,
                                                       .name = other->name,
                                                       .home = home,
                                                       .comes_and_goes = comes_and_goes},
                       err);
}

void spec_clusters_free(struct spec_engine *engine)
{
    for (size_t i = 0; i < engine->other_count; i++) {
        spec_cluster_free(engine->others[i].cluster);
        free(engine->others[i].name);
    }
    free(engine->others);
}

bool spec_clusters_pump(const struct spec_engine *engine)
{
    bool any = spec_cluster_pump(engine->home);
    for (size_t i = 0; i < engine->other_count; i++) any |= spec_cluster_pump(engine->others[i].cluster);
    return any;
}

bool spec_engine_select(struct spec_engine *engine, const char *name)
{
    engine->selected = NULL;
    engine->cluster = engine->home;
    for (size_t i = engine->other_count; name && !engine->selected && i-- > 0;) { /* the newest of a name */
        if (strcmp(engine->others[i].name, name) != 0) continue;
        engine->selected = engine->others[i].name;
        engine->cluster = engine->others[i].cluster;
    }
    if (engine->selected && !spec_engine_kinds(engine)) engine->selected = NULL; /* gone */
    if (!engine->selected) engine->cluster = engine->home;
    return !name || engine->selected;
}

const struct kinds *spec_engine_kinds(const struct spec_engine *engine)
{
    const struct cluster_names *names = &engine_host(engine->engine)->clusters;
    if (!engine->selected) return engine_cluster(engine->engine)->parts.kinds;
    const struct cluster_parts *parts = names->find(names->ctx, str_of(engine->selected));
    return parts ? parts->kinds : NULL; /* it is gone */
}
