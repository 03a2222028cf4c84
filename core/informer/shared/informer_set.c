/* Several informers read as one; see informer_set.h. */
#include "informer/shared/informer_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "informer/shared/shared_factory_internal.h"

void informer_spec_key(const struct informer_spec *spec, const struct resource *resource, const char *ns,
                       struct informer_key *key)
{
    informer_key_init(key, resource,
                      &(struct lw_scope){
                          .namespace_ = ns,
                          .namespace_selector = spec->namespace_selector,
                          .label_selector = spec->label_selector,
                          .field_selector = spec->field_selector,
                          .projection = spec->projection,
                          .metadata_only = spec->metadata_only,
                      });
    key->transform = spec->transform;
    key->shard = spec->shard;
}

static struct shared *acquire_member(struct shared_factory *factory, const struct resource *resource,
                                     const struct informer_spec *spec, const char *ns)
{
    struct informer_key key;
    informer_spec_key(spec, resource, ns, &key);
    if (!factory->options.shares) key.shard = SHARD_BY_NOTHING;
    return shared_acquire(factory, &key);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Returns the members, each once and with one more claim, as a malloc'ed array. Namespaces are sorted, so
 * that equal sets compare equal whatever the order in which scripts name them. */
static struct shared **acquire_members(struct shared_factory *factory, const struct resource *resource,
                                       const struct informer_spec *spec, size_t *count)
{
    size_t names = resource->namespaced && spec->namespace_count ? spec->namespace_count : 1;
    struct shared **members = xcalloc(names, sizeof(struct shared *));
    const char **sorted = xcalloc(names, sizeof *sorted);
    for (size_t i = 0; i < names; i++)
        sorted[i] = spec->namespace_count ? spec->namespaces[i] : spec->namespace_;
    qsort(sorted, names, sizeof *sorted, compare_texts);
    *count = 0;
    for (size_t i = 0; i < names; i++)
        if (i == 0 || strcmp(sorted[i], sorted[i - 1]) != 0)
            members[(*count)++] = acquire_member(factory, resource, spec, sorted[i]);
    free(sorted);
    return members;
}

static struct informer_set *find_set(struct shared_factory *factory, struct shared *const *members,
                                     size_t count)
{
    struct informer_set *set;
    TAILQ_FOREACH (set, &factory->sets, link)
        if (set->count == count && memcmp(set->members, members, count * sizeof *members) == 0) return set;
    return NULL;
}

/* Creates a set; takes the members. A single informer is read directly; several share a store that mirrors
 * all of them. */
static struct informer_set *set_new(struct shared_factory *factory, struct shared **members, size_t count)
{
    struct informer_set *set = NEW(struct informer_set);
    set->factory = factory;
    set->members = members;
    set->count = count;
    version_waits_init(&set->waits);
    TAILQ_INSERT_TAIL(&factory->sets, set, link);
    set->store = count > 1 ? indexer_new() : shared_informer_indexer(members[0]->informer);
    for (size_t i = 0; i < count && count > 1; i++)
        shared_informer_add_mirror(members[i]->informer, set->store);
    informer_set_note_version(set);
    return set;
}

static void release_members(struct shared *const *members, size_t count)
{
    for (size_t i = 0; i < count; i++) shared_release(members[i]);
}

struct informer_set *informer_set_join(struct shared_factory *factory, struct shared **members, size_t count)
{
    struct informer_set *set = find_set(factory, members, count);
    if (set) {
        release_members(members, count); /* the set already has a claim on each */
        free(members);
    } else {
        set = set_new(factory, members, count);
    }
    set->claims++;
    return set;
}

struct informer_set *informer_set_acquire(struct shared_factory *factory, const struct resource *resource,
                                          const struct informer_spec *spec)
{
    size_t count;
    struct shared **members = acquire_members(factory, resource, spec, &count);
    return informer_set_join(factory, members, count);
}

void informer_set_release(struct informer_set *set)
{
    if (--set->claims > 0) return;
    TAILQ_REMOVE(&set->factory->sets, set, link);
    version_waits_clear(&set->waits);
    for (size_t i = 0; i < set->count && set->count > 1; i++)
        shared_informer_remove_mirror(set->members[i]->informer, set->store);
    if (set->count > 1) indexer_free(set->store);
    release_members(set->members, set->count);
    free(set->members);
    free(set);
}

bool informer_set_has(const struct informer_set *set, const struct shared *member)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->members[i] == member) return true;
    return false;
}

bool informer_set_has_synced(const struct informer_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (!shared_informer_has_synced(set->members[i]->informer)) return false;
    return true;
}

struct version_waits *informer_set_waits(struct informer_set *set)
{
    return set->count > 1 ? &set->waits : shared_informer_waits(set->members[0]->informer);
}

struct version_waits *informer_set_waits_in(struct informer_set *set, struct str ns)
{
    for (size_t i = 0; ns.n && i < set->count; i++) {
        const char *own = set->members[i]->key.namespace_;
        if (set->members[i]->namespaces.each) continue;
        if (*own == '\0' || str_is(ns, own)) return shared_informer_waits(set->members[i]->informer);
    }
    return ns.n ? NULL : informer_set_waits(set);
}

/* Returns the oldest version of the members, of which all handlers were notified. A version that cannot be
 * compared counts as the oldest: a member without one holds the set back. */
static struct str oldest_version(const struct informer_set *set)
{
    struct str oldest = {0};
    bool found = false;
    for (size_t i = 0; i < set->count; i++) {
        if (set->members[i]->namespaces.each || set->members[i]->left) continue;
        struct str version = version_waits_version(shared_informer_waits(set->members[i]->informer));
        if (!version_reached(version, version)) return version;
        if (!found || !version_reached(version, oldest)) oldest = version;
        found = true;
    }
    return oldest;
}

void informer_set_note_version(struct informer_set *set)
{
    if (set->count == 1) return;
    struct str oldest = oldest_version(set);
    /* Called after every turn of a member, so the usual case must cost nothing. */
    if (str_is(oldest, indexer_resource_version(set->store))) return;
    indexer_set_resource_version(set->store, oldest);
    version_waits_notify(&set->waits, oldest);
}
