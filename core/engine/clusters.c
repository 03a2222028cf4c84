/* Clusters beside the home cluster; see clusters.h. */
#include "engine/clusters.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "kube/kinds/kinds.h"

/* Delays of discovery while a kind is missing, as those of the home cluster: short at first. */
enum { REFRESH_FIRST_MS = 1000, REFRESH_MAX_MS = 60000 };

enum { ENDING_MS = 100 };

struct other_cluster {
    TAILQ_ENTRY(other_cluster) link;
    const struct clusters *all;
    struct cluster *cluster;
    int64_t refresh_ms; /* delay before the next discovery for a missing kind */
    uint64_t id;
    bool is_told; /* unknown kinds were logged */
    bool is_gone; /* it ends once no script holds it */
};

/* --- kinds */

/* The kind may come, as its cluster may be of another age than its neighbours: nothing is refused for it. */
static void on_unknown(void *ctx, struct informer_claim *claim, const struct err *err)
{
    const struct other_cluster *other = ctx;
    if (other->is_told) return;
    log_warn("Waiting for an unknown kind", F("cluster", other->cluster->name),
             F("script", other->all->hooks.script_of(other->all->hooks.ctx, claim)),
             F("kind", claim_spec(claim)->kind), F("err", err->text));
}

static bool is_missing_kinds(const struct other_cluster *other)
{
    const struct informer_claim *claim = NULL;
    while ((claim = shared_factory_next_claim(other->cluster->parts.factory, claim)))
        if (claim_is_missing(claim)) return true;
    return false;
}

static void refresh_soon(struct other_cluster *other)
{
    if (discoverer_is_refreshing(other->cluster->discoverer)) return;
    discoverer_refresh(other->cluster->discoverer, other->refresh_ms);
    other->refresh_ms = other->refresh_ms * 2 > REFRESH_MAX_MS ? REFRESH_MAX_MS : other->refresh_ms * 2;
}

static void resolve(struct other_cluster *other)
{
    const struct catalogue *catalogue = kinds_catalogue(other->cluster->parts.kinds);
    shared_factory_resolve(other->cluster->parts.factory, catalogue, on_unknown, other);
    other->is_told |= !catalogue_is_partial(catalogue);
    other->all->hooks.settled(other->all->hooks.ctx);
    if (is_missing_kinds(other)) refresh_soon(other);
}

static void on_found_kinds(void *ctx, const struct catalogue *catalogue)
{
    struct other_cluster *other = ctx;
    struct kinds *kinds = other->cluster->parts.kinds;
    if (catalogue != kinds_catalogue(kinds)) kinds_set(kinds, catalogue);
    resolve(other);
    other->all->hooks.found(other->all->hooks.ctx);
}

static void on_failed_kinds(void *ctx, const struct err *err)
{
    const struct other_cluster *other = ctx;
    kinds_fail(other->cluster->parts.kinds, err);
}

/* --- informers */

static void on_changed(void *ctx, struct informer_claim *claim)
{
    struct other_cluster *other = ctx;
    other->all->hooks.changed(other->all->hooks.ctx, claim);
    if (claim_is_missing(claim)) refresh_soon(other);
}

static void on_synced(void *ctx, const char *informer, size_t objects)
{
    const struct other_cluster *other = ctx;
    other->all->hooks.synced(other->all->hooks.ctx, informer, objects);
}

/* --- names */

static const char *home_name(const struct clusters *all)
{
    const struct cluster_config *config = all->home->options.config;
    return config && config->name ? config->name : "home";
}

static const struct cluster_parts *find(void *ctx, struct str name)
{
    const struct clusters *all = ctx;
    const struct other_cluster *other;
    if (str_is(name, home_name(all))) return &all->home->parts;
    TAILQ_FOREACH (other, &all->list, link)
        if (!other->is_gone && str_is(name, other->cluster->name)) return &other->cluster->parts;
    return NULL;
}

/* The home cluster has number 0, and so have the ids. */
static const struct other_cluster *other_at(const struct clusters *all, size_t at)
{
    const struct other_cluster *other;
    TAILQ_FOREACH (other, &all->list, link)
        if (!other->is_gone && --at == 0) return other;
    return NULL;
}

static const char *name_at(void *ctx, size_t at, uint64_t *id)
{
    const struct clusters *all = ctx;
    const struct other_cluster *other = at > 0 ? other_at(all, at) : NULL;
    *id = other ? other->id : 0;
    return at == 0 ? home_name(all) : other ? other->cluster->name : NULL;
}

static uint64_t changes(void *ctx)
{
    const struct clusters *all = ctx;
    return all->changes;
}

struct cluster_names clusters_names(struct clusters *all)
{
    return (struct cluster_names){.find = find, .at = name_at, .changes = changes, .ctx = all};
}

/* --- the end of one */

static void end_one(struct clusters *all, struct other_cluster *other)
{
    TAILQ_REMOVE(&all->list, other, link);
    log_v(1, "Cluster ended", F("cluster", other->cluster->name));
    cluster_end(other->cluster, 0);
    cluster_free(other->cluster);
    free(other);
}

/* Not before scripts have let go: their values may be garbage only later. */
static void on_ending(struct timer *timer)
{
    struct clusters *all = container_of(timer, struct clusters, ending);
    struct other_cluster *other, *next;
    bool more = false;
    for (other = TAILQ_FIRST(&all->list); other; other = next) {
        next = TAILQ_NEXT(other, link);
        if (!other->is_gone) continue;
        if (other->cluster->users == 0 && !shared_factory_next_claim(other->cluster->parts.factory, NULL))
            end_one(all, other);
        else
            more = true;
    }
    if (more) timer_start(timer, loop_clock(all->home->options.engine_loop), ENDING_MS);
}

void clusters_leave(struct clusters *all, const struct cluster *cluster)
{
    struct other_cluster *other;
    TAILQ_FOREACH (other, &all->list, link)
        if (other->cluster == cluster) other->is_gone = true;
    all->changes++;
    all->hooks.left(all->hooks.ctx, &cluster->parts);
    if (!timer_running(&all->ending))
        timer_start(&all->ending, loop_clock(all->home->options.engine_loop), 0);
}

/* --- from start to end */

void clusters_init(struct clusters *all, struct cluster *home, const struct clusters_hooks *hooks)
{
    all->home = home;
    all->hooks = *hooks;
    all->ending.fn = on_ending;
    TAILQ_INIT(&all->list);
}

void clusters_add(struct clusters *all, struct cluster *cluster)
{
    struct other_cluster *other = NEW(struct other_cluster);
    *other = (struct other_cluster){
        .all = all, .cluster = cluster, .refresh_ms = REFRESH_FIRST_MS, .id = ++all->changes};
    TAILQ_INSERT_TAIL(&all->list, other, link);
    cluster_watch(cluster, &(const struct cluster_watcher){.changed = on_changed,
                                                           .synced = on_synced,
                                                           .found_kinds = on_found_kinds,
                                                           .failed_kinds = on_failed_kinds,
                                                           .ctx = other});
}

void clusters_refresh_kinds(const struct clusters *all)
{
    const struct other_cluster *other;
    TAILQ_FOREACH (other, &all->list, link) cluster_refresh_kinds(other->cluster);
}

void clusters_resolve(struct clusters *all)
{
    struct other_cluster *other;
    TAILQ_FOREACH (other, &all->list, link) {
        other->is_told = false;
        other->refresh_ms = REFRESH_FIRST_MS;
        if (kinds_known(other->cluster->parts.kinds)) resolve(other);
    }
}

struct cluster *clusters_at(const struct clusters *all, size_t at)
{
    const struct other_cluster *other = at > 0 ? other_at(all, at) : NULL;
    return at == 0 ? all->home : other ? other->cluster : NULL;
}

void clusters_end(struct clusters *all, int64_t flush_ms)
{
    const struct other_cluster *other;
    timer_cancel(&all->ending);
    TAILQ_FOREACH (other, &all->list, link) cluster_end(other->cluster, flush_ms);
}

void clusters_free(struct clusters *all)
{
    struct other_cluster *other;
    while ((other = TAILQ_FIRST(&all->list))) {
        TAILQ_REMOVE(&all->list, other, link);
        cluster_free(other->cluster);
        free(other);
    }
}
