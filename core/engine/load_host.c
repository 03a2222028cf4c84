/* A host without a server; see load_host.h. */
#include "engine/load_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/host.h"
#include "informer/shared/shared_factory.h"
#include "kube/kinds/kinds.h"

static void refresh_nothing(void *ctx) {}

static void print_to_stderr(void *ctx, struct str line)
{
    fprintf(stderr, "%.*s\n", STR_ARG(line));
}

struct named_cluster {
    struct named_cluster *next;
    struct cluster_parts parts;
    char name[];
};

/* Where scripts are only looked at, there is each cluster that they name. */
static const struct cluster_parts *find_cluster(void *ctx, struct str name)
{
    struct load_host *dry = ctx;
    struct named_cluster *one;
    for (one = dry->named; one; one = one->next)
        if (str_is(name, one->name)) return &one->parts;
    one = xcalloc(1, sizeof *one + name.n + 1);
    memcpy(one->name, name.p, name.n);
    one->parts = dry->parts;
    one->parts.name = one->name;
    one->next = dry->named;
    dry->named = one;
    return &one->parts;
}

static void free_clusters(struct load_host *dry)
{
    while (dry->named) {
        struct named_cluster *one = dry->named;
        dry->named = one->next;
        free(one);
    }
}

void load_host_open(struct load_host *dry, const struct engine_settings *settings)
{
    load_host_open_on(dry, settings, NULL, NULL);
}

void load_host_open_on(struct load_host *dry, const struct engine_settings *settings,
                       struct list_watch *(*new_source)(void *ctx, const struct resource *resource,
                                                        const struct lw_scope *scope),
                       void *ctx)
{
    *dry = (struct load_host){.loop = loop_new_alone()};
    turns_init(&dry->turns);
    dry->parts = (struct cluster_parts){
        .kinds = kinds_new(loop_clock(dry->loop), refresh_nothing, NULL),
        .factory = shared_factory_new(&(struct shared_factory_options){
            .engine_loop = dry->loop, .io_loop = dry->loop, .new_source = new_source, .ctx = ctx}),
        .leaders = leaders_new(
            &(struct leaders_options){.engine_loop = dry->loop, .io_loop = dry->loop, .identity = "nobody"}),
    };
    dry->host =
        host_of(&(const struct host_parts){.cluster = &dry->parts, .loop = dry->loop, .turns = &dry->turns},
                settings);
    dry->host.clusters = (struct cluster_names){.find = find_cluster, .ctx = dry};
    if (!dry->host.hooks.print) dry->host.hooks.print = print_to_stderr;
}

/* Whoever fills the caches says which kinds are unknown. */
static void on_unknown(void *ctx, struct informer_claim *claim, const struct err *err) {}

static bool all_synced(const struct load_host *dry)
{
    const struct informer_claim *claim = NULL;
    while ((claim = shared_factory_next_claim(dry->parts.factory, claim)))
        if (claim_resource(claim) && !claim_has_synced(claim)) return false;
    return true;
}

void load_host_fill(struct load_host *dry, const struct catalogue *catalogue)
{
    shared_factory_resolve(dry->parts.factory, catalogue, on_unknown, NULL);
    while (!all_synced(dry)) loop_once(dry->loop, true);
}

void load_host_close(struct load_host *dry)
{
    leaders_end(dry->parts.leaders);
    leaders_free(dry->parts.leaders);
    shared_factory_free(dry->parts.factory);
    kinds_free(dry->parts.kinds);
    free_clusters(dry);
    loop_free(dry->loop);
}
