/* Claim of a script on a shared informer; see shared_factory.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"
#include "informer/shared/shared_factory_internal.h"
#include "object/pack/projection.h"

static const char *const *copy_texts(const char *const *texts, size_t count)
{
    char **copy = xcalloc(count + 1, sizeof *copy);
    for (size_t i = 0; i < count; i++) copy[i] = xstrdup(texts[i]);
    return (const char *const *)copy;
}

/* Creates the series of an informer that is down, under its future name as far as that is known without the
 * server. */
static struct series *show_down(const struct informer_spec *spec, const char *ns)
{
    struct buf name = {0};
    struct informer_key key;
    char *kind = (char *)spec->kind, *none = (char *)"";
    const struct resource unknown = {none, none, kind, kind, .namespaced = true};
    informer_spec_key(spec, &unknown, ns, &key);
    key.cluster = spec->cluster;
    informer_key_describe(&key, &name);
    struct series *series = informer_metrics_down(buf_text(&name), spec->kind);
    informer_key_clear(&key);
    buf_clear(&name);
    return series;
}

/* Shows the claim's informers as down from the moment when a script wants them: an alert cannot fire on a
 * series that is missing (B-7). */
static void claim_publish_down(struct informer_claim *claim)
{
    const struct informer_spec *spec = &claim->spec;
    claim->down_count = spec->namespace_count ? spec->namespace_count : 1;
    claim->down = xcalloc(claim->down_count, sizeof(struct series *));
    for (size_t i = 0; i < claim->down_count; i++)
        claim->down[i] = show_down(spec, spec->namespace_count ? spec->namespaces[i] : spec->namespace_);
}

void claim_end_down(struct informer_claim *claim)
{
    for (size_t i = 0; i < claim->down_count; i++) series_free(claim->down[i]);
    free(claim->down);
    claim->down = NULL;
    claim->down_count = 0;
}

static char *cluster_of(const struct shared_factory *factory, const struct informer_spec *spec)
{
    const char *name = spec->cluster ? spec->cluster : factory->options.cluster;
    return name ? xstrdup(name) : NULL;
}

static struct informer_claim *make(struct shared_factory *factory, const struct informer_spec *spec)
{
    struct informer_claim *claim = NEW(struct informer_claim);
    claim->factory = factory;
    claim->spec = (struct informer_spec){
        .kind = xstrdup(spec->kind),
        .cluster = cluster_of(factory, spec),
        .namespace_ = xstrdup(spec->namespace_ ? spec->namespace_ : ""),
        .namespace_selector = xstrdup(spec->namespace_selector ? spec->namespace_selector : ""),
        .label_selector = xstrdup(spec->label_selector ? spec->label_selector : ""),
        .field_selector = xstrdup(spec->field_selector ? spec->field_selector : ""),
        .namespaces = copy_texts(spec->namespaces, spec->namespace_count),
        .namespace_count = spec->namespace_count,
        .projection = spec->projection ? projection_ref(spec->projection) : NULL,
        .metadata_only = spec->metadata_only,
        .transform = spec->transform,
        .shard = spec->shard,
        .may_shard = spec->may_shard,
    };
    claim->since_us = clock_wall_us(loop_clock(factory->options.engine_loop));
    TAILQ_INIT(&claim->handlers);
    TAILQ_INIT(&claim->indexes);
    TAILQ_INSERT_TAIL(&factory->claims, claim, link);
    return claim;
}

struct informer_claim *shared_factory_claim(struct shared_factory *factory, const struct informer_spec *spec)
{
    struct informer_claim *claim = make(factory, spec);
    claim_publish_down(claim);
    return claim;
}

static void free_transform(const struct transform *transform)
{
    if (transform->free) transform->free(transform->ctx);
}

void claim_set_transform(struct informer_claim *claim, const struct transform *transform)
{
    must(!claim->set);
    free_transform(&claim->spec.transform);
    claim->spec.transform = *transform;
}

void claim_suspend(struct informer_claim *claim, bool suspended)
{
    if (claim->suspended == suspended) return;
    must(!claim->set);
    claim->suspended = suspended;
    if (suspended)
        claim_end_down(claim);
    else
        claim_publish_down(claim);
}

bool claim_is_suspended(const struct informer_claim *claim)
{
    return claim->suspended;
}

bool claim_is_resolved(const struct informer_claim *claim)
{
    return claim->set || (claim->suspended && claim->known);
}

void claim_relist(struct informer_claim *claim)
{
    for (size_t i = 0; claim->set && i < claim->set->count; i++) shared_relist(claim->set->members[i]);
}

struct informer_claim *claim_dup(const struct informer_claim *claim)
{
    must(claim->set && !claim->spec.transform.fn);
    struct informer_claim *again = make(claim->factory, &claim->spec);
    again->set = claim->set;
    again->set->claims++;
    return again;
}

struct informer_claim *shared_factory_next_claim(const struct shared_factory *factory,
                                                 const struct informer_claim *claim)
{
    return claim ? TAILQ_NEXT(claim, link) : TAILQ_FIRST(&factory->claims);
}

static void clear_spec(struct informer_spec *spec)
{
    free((char *)spec->kind);
    free((char *)spec->cluster);
    free((char *)spec->namespace_);
    free((char *)spec->namespace_selector);
    free((char *)spec->label_selector);
    free((char *)spec->field_selector);
    for (size_t i = 0; i < spec->namespace_count; i++) free((char *)spec->namespaces[i]);
    free((void *)spec->namespaces);
    projection_unref(spec->projection);
    free_transform(&spec->transform);
}

void claim_close(struct informer_claim *claim)
{
    struct claim_handler *handler;
    while ((handler = TAILQ_FIRST(&claim->handlers))) claim_remove_handler(handler);
    claim_indexes_detach(claim);
    if (claim->set) informer_set_release(claim->set);
    claim->set = NULL;
    claim_indexes_clear(claim);
    TAILQ_REMOVE(&claim->factory->claims, claim, link);
    claim_end_down(claim);
    claim->closed = claim->suspended = true;
}

void claim_release(struct informer_claim *claim)
{
    if (!claim->closed) claim_close(claim);
    clear_spec(&claim->spec);
    free(claim->unknown);
    free(claim);
}

void claim_stop(struct informer_claim *claim)
{
    claim->stopped = true;
}

bool claim_is_stopped(const struct informer_claim *claim)
{
    return claim->stopped;
}

int64_t claim_since_us(const struct informer_claim *claim)
{
    return claim->since_us;
}

struct shared_factory *claim_factory(const struct informer_claim *claim)
{
    return claim->factory;
}

const struct informer_spec *claim_spec(const struct informer_claim *claim)
{
    return &claim->spec;
}

const struct resource *claim_resource(const struct informer_claim *claim)
{
    return claim->set ? &claim->set->members[0]->key.resource : NULL;
}

struct indexer *claim_indexer(struct informer_claim *claim)
{
    return claim->set ? claim->set->store : NULL;
}

static struct version_waits *waits_in(const struct informer_claim *claim, struct str ns, struct err *err)
{
    struct version_waits *waits = claim->set ? informer_set_waits_in(claim->set, ns) : NULL;
    if (!claim->set)
        err_set(err, ERR_NOT_FOUND, "%s has no cache yet", claim->spec.kind);
    else if (!waits)
        err_set(err, ERR_NOT_FOUND, "the informer of %s does not have the namespace %.*s", claim->spec.kind,
                STR_ARG(ns));
    return waits;
}

struct version_wait *claim_wait_version(struct informer_claim *claim, struct str ns, struct str version,
                                        void (*reached)(void *ctx), void *ctx, struct err *err)
{
    struct version_waits *waits = waits_in(claim, ns, err);
    return waits ? version_waits_add(waits, version, claim, reached, ctx, err) : NULL;
}

struct str claim_version(const struct informer_claim *claim, struct str ns)
{
    struct version_waits *waits = waits_in(claim, ns, NULL);
    return waits ? version_waits_version(waits) : (struct str){0};
}

bool claim_is_missing(const struct informer_claim *claim)
{
    bool missing = !claim->set && !claim->suspended && claim->unknown;
    for (size_t i = 0; claim->set && i < claim->set->count; i++) {
        struct reflector_status status = {0};
        feed_get_status(claim->set->members[i]->feed, &status);
        missing |= shared_is_missing(claim->set->members[i], &status);
    }
    return missing;
}

bool claim_has_synced(const struct informer_claim *claim)
{
    return claim->set && informer_set_has_synced(claim->set);
}

bool claim_note_early(struct informer_claim *claim)
{
    bool first = !claim->read_early;
    claim->read_early = true;
    return first;
}

bool claim_has_settled(const struct informer_claim *claim)
{
    for (size_t i = 0; claim->set && i < claim->set->count; i++) {
        const struct shared *member = claim->set->members[i];
        if (!shared_is_settled(member)) return false;
    }
    return claim->set || claim->suspended || (claim->unknown && !claim->undecided);
}
