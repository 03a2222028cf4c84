/* Clusters beside the home cluster; see clusters.h. */
#include "engine/clusters.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "kube/kinds/kinds.h"

/* Delays of discovery while a kind is missing, as those of the home cluster: short at first. */
enum { REFRESH_FIRST_MS = 1000, REFRESH_MAX_MS = 60000 };

struct other_cluster {
    TAILQ_ENTRY(other_cluster) link;
    const struct clusters *all;
    struct cluster *cluster;
    int64_t refresh_ms; /* delay before the next discovery for a missing kind */
    bool is_told;       /* unknown kinds were logged */
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
    return config && config->name ? config->name : "";
}

static const struct cluster_parts *find(void *ctx, struct str name)
{
    const struct clusters *all = ctx;
    const struct other_cluster *other;
    if (name.n && str_is(name, home_name(all))) return &all->home->parts;
    TAILQ_FOREACH (other, &all->list, link)
        if (str_is(name, other->cluster->name)) return &other->cluster->parts;
    return NULL;
}

static void list_names(void *ctx, struct buf *out)
{
    const struct clusters *all = ctx;
    const struct other_cluster *other;
    buf_puts(out, home_name(all));
    TAILQ_FOREACH (other, &all->list, link)
        buf_printf(out, "%s%s", out->len ? ", " : "", other->cluster->name);
}

struct cluster_names clusters_names(struct clusters *all)
{
    return (struct cluster_names){.find = find, .list = list_names, .ctx = all};
}

/* --- from start to end */

void clusters_init(struct clusters *all, struct cluster *home, const struct clusters_hooks *hooks)
{
    all->home = home;
    all->hooks = *hooks;
    TAILQ_INIT(&all->list);
}

void clusters_add(struct clusters *all, struct cluster *cluster)
{
    struct other_cluster *other = NEW(struct other_cluster);
    *other = (struct other_cluster){.all = all, .cluster = cluster, .refresh_ms = REFRESH_FIRST_MS};
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
    const struct other_cluster *other;
    if (at == 0) return all->home;
    TAILQ_FOREACH (other, &all->list, link)
        if (--at == 0) return other->cluster;
    return NULL;
}

void clusters_end(struct clusters *all, int64_t flush_ms)
{
    const struct other_cluster *other;
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
