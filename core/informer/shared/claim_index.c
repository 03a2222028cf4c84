/* Indexes that a claim names; see claim_index.h. */
#include "informer/shared/claim_index.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "informer/shared/shared_factory_internal.h"
#include "informer/store/index.h"

struct claim_index {
    TAILQ_ENTRY(claim_index) link;
    struct informer_claim *claim;
    char *name, *path; /* `path` NULL: an index by a function of the script */
    struct index_source
        source;          /* of an index without path; `free` is called here, not by the cache's index */
    struct index *index; /* in the claim's cache; NULL: none */
};

static struct claim_index *find_claim_index(struct informer_claim *claim, struct str name)
{
    struct claim_index *index;
    TAILQ_FOREACH (index, &claim->indexes, link)
        if (str_is(name, index->name)) return index;
    return NULL;
}

static bool check_name(struct informer_claim *claim, struct str name, struct err *err)
{
    if (str_is(name, "namespace") || find_claim_index(claim, name))
        return err_set(err, ERR_INVALID, "Index with name %.*s exists already", STR_ARG(name));
    size_t count = 0;
    struct claim_index *index;
    TAILQ_FOREACH (index, &claim->indexes, link) count++;
    if (count < INDEXES_MAX) return true;
    return err_set(err, ERR_LIMIT, "the informer already has the maximum of %d indexes", INDEXES_MAX);
}

/* Returns the source for a cache, without `free`: the function belongs to the claim, which outlives its place
 * in the cache and may get another one. A copy of the cache has no changes. */
static struct index_source borrowed(const struct claim_index *index, bool copy)
{
    struct index_source source = index->source;
    source.free = NULL;
    if (copy) source.later = NULL, source.touched = NULL;
    return source;
}

static struct index *add_to(const struct claim_index *index, struct indexer *cache, struct err *err)
{
    struct index_source source = borrowed(index, cache != claim_indexer(index->claim));
    if (index->claim->builds_in_steps)
        return index->path ? indexer_begin_path_index(cache, str_of(index->path), err)
                           : indexer_begin_index(cache, &source, err);
    if (index->path) return indexer_add_path_index(cache, str_of(index->path), err);
    return indexer_add_index(cache, &source, err);
}

static void free_index(struct claim_index *index)
{
    if (index->source.free) index->source.free(index->source.ctx);
    free(index->name);
    free(index->path);
    free(index);
}

/* Takes the index: adds it to the claim, or frees it. The name is listed before the function is called, as
 * that may look it up. */
static bool keep(struct informer_claim *claim, struct claim_index *index, struct err *err)
{
    struct indexer *cache = claim_indexer(claim);
    index->claim = claim;
    TAILQ_INSERT_TAIL(&claim->indexes, index, link);
    if (!cache || (index->index = add_to(index, cache, err))) return true;
    TAILQ_REMOVE(&claim->indexes, index, link);
    free_index(index);
    return false;
}

static struct claim_index *new_index(struct str name)
{
    struct claim_index *index = NEW(struct claim_index);
    index->name = xstrndup(name.p, name.n);
    return index;
}

bool claim_add_path_index(struct informer_claim *claim, struct str name, struct str path, struct err *err)
{
    struct index_source source;
    if (!check_name(claim, name, err) || !index_source_of_path(path, &source, err)) return false;
    source.free(
        source.ctx); /* compiled only to check the path: the cache compiles its own, once for all users */
    struct claim_index *index = new_index(name);
    index->path = xstrndup(path.p, path.n);
    return keep(claim, index, err);
}

bool claim_add_index(struct informer_claim *claim, struct str name, const struct index_source *source,
                     struct err *err)
{
    if (!check_name(claim, name, err)) {
        if (source->free) source->free(source->ctx);
        return false;
    }
    struct claim_index *index = new_index(name);
    index->source = *source;
    return keep(claim, index, err);
}

struct claim_index *claim_find_index(struct informer_claim *claim, struct str name, bool *is_namespace,
                                     struct err *err)
{
    struct claim_index *index = find_claim_index(claim, name);
    *is_namespace = str_is(name, "namespace");
    if (!index && !*is_namespace)
        err_set(err, ERR_NOT_FOUND, "Index with name %.*s does not exist", STR_ARG(name));
    return index;
}

const struct index_source *claim_index_source(const struct claim_index *index)
{
    return &index->source;
}

struct index *claim_index_in(struct claim_index *index, struct indexer *cache, struct err *err)
{
    struct index_source source = borrowed(index, true);
    /* An index of the claim's own cache is released with the claim; a copy of the cache ends with its
     * indexes. */
    if (cache == claim_indexer(index->claim)) {
        if (!index->index) index->index = add_to(index, cache, err);
        return index->index;
    }
    if (index->path && indexer_path_index(cache, str_of(index->path)))
        return indexer_path_index(cache, str_of(index->path));
    if (!index->path && indexer_source_index(cache, &source)) return indexer_source_index(cache, &source);
    return add_to(index, cache, err);
}

void claim_build_in_steps(struct informer_claim *claim)
{
    claim->builds_in_steps = true;
}

bool claim_build_indexes(struct informer_claim *claim, size_t max)
{
    struct claim_index *index;
    TAILQ_FOREACH (index, &claim->indexes, link)
        if (index->index && !indexer_build_index(claim_indexer(claim), index->index, index->path ? max : 1))
            return false;
    claim->builds_in_steps = false;
    return true;
}

static struct index *index_of_source(struct informer_claim *claim, const struct index_source *source)
{
    struct claim_index *index;
    TAILQ_FOREACH (index, &claim->indexes, link)
        if (!index->path && index->source.ctx == source->ctx) return index->index;
    return NULL;
}

void claim_rebuild_index(struct informer_claim *claim, const struct index_source *source)
{
    struct index *index = index_of_source(claim, source);
    if (index) indexer_rebuild_index(claim_indexer(claim), index);
}

bool claim_build_index(struct informer_claim *claim, const struct index_source *source)
{
    struct index *index = index_of_source(claim, source);
    return !index || indexer_build_index(claim_indexer(claim), index, 1);
}

size_t claim_catch_up_index(struct informer_claim *claim, const struct index_source *source)
{
    struct index *index = index_of_source(claim, source);
    if (index) indexer_catch_up(claim_indexer(claim), index);
    return index ? indexer_late_count(claim_indexer(claim), index) : 0;
}

size_t claim_late_count(struct informer_claim *claim, const struct index_source *source)
{
    struct index *index = index_of_source(claim, source);
    return index ? indexer_late_count(claim_indexer(claim), index) : 0;
}

void claim_indexes_attach(struct informer_claim *claim)
{
    struct claim_index *index;
    TAILQ_FOREACH (index, &claim->indexes, link) {
        struct err err;
        index->index = add_to(index, claim_indexer(claim), &err);
        if (!index->index)
            log_warn("Index not built", F("kind", claim->spec.kind), F("index", index->name),
                     F("err", err.text));
    }
}

void claim_indexes_detach(struct informer_claim *claim)
{
    struct claim_index *index;
    TAILQ_FOREACH (index, &claim->indexes, link) {
        if (index->index) indexer_release_index(claim_indexer(claim), index->index);
        index->index = NULL;
    }
}

void claim_indexes_clear(struct informer_claim *claim)
{
    struct claim_index *index;
    while ((index = TAILQ_FIRST(&claim->indexes))) {
        TAILQ_REMOVE(&claim->indexes, index, link);
        free_index(index);
    }
}

void claim_each_path_index(const struct informer_claim *claim,
                           void (*fn)(void *ctx, const char *name, const char *path), void *ctx)
{
    const struct claim_index *index;
    TAILQ_FOREACH (index, &claim->indexes, link)
        if (index->path) fn(ctx, index->name, index->path);
}
