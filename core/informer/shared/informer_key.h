/* Identity of an informer; claims with equal keys share it (F-1): resource, namespace, selectors and
 * projection, in canonical form. Owner: its creator; the strings are its own. May be used on any thread. */
#pragma once
#include <stdbool.h>

#include "base/buf.h"
#include "informer/shard/shard_filter.h"
#include "informer/shared/transform.h"
#include "kube/api/list_watch.h"
#include "kube/kinds/resource.h"

struct informer_key {
    struct resource resource;
    const char *cluster; /* in names; borrowed; equal in one factory; NULL: the home cluster */
    char *namespace_, *label_selector, *field_selector;
    char *namespace_selector;      /* of the namespaces whose objects it has; "": all */
    struct projection *projection; /* NULL: everything */
    bool metadata_only;
    enum shard_by shard;        /* this replica's share of the objects, by what; all of them otherwise */
    struct transform transform; /* borrowed; a part of the identity */
};

/* Creates a key from the scope as users wrote it; ignores the namespaces of a kind that has none. */
void informer_key_init(struct informer_key *key, const struct resource *resource,
                       const struct lw_scope *scope);
void informer_key_clear(struct informer_key *key);
bool informer_key_equal(const struct informer_key *a, const struct informer_key *b);
/* Returns whether the informer itself follows the namespaces, rather than being that of one of them. */
static inline bool informer_key_follows(const struct informer_key *key)
{
    return *key->namespace_selector && !*key->namespace_;
}
/* Borrows from the key. */
struct lw_scope informer_key_scope(const struct informer_key *key);
/* Appends the name, such as "pods in shop with labels app=web", or "west: pods" of another cluster. */
void informer_key_describe(const struct informer_key *key, struct buf *out);
/* Appends the identity, such as "v1 pods in shop with labels app=web": equal for equal keys without a
 * transform, and in each process. */
void informer_key_identify(const struct informer_key *key, struct buf *out);
/* Appends ", shared" for one that holds a share of the objects. */
void informer_shard_describe(enum shard_by shard, struct buf *out);
/* Appends the part of the name after the resource. */
void informer_scope_describe(const struct lw_scope *scope, const struct transform *transform,
                             struct buf *out);
