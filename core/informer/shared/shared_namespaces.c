/* Namespaces with certain labels, for an informer that has only their objects; see shared_factory_internal.h.
 * An informer of namespaces tells which these are: by one watch of all, its feed lets their objects pass; if
 * that is forbidden, each namespace has an informer of its own in the sets of the claims. One that loses its
 * labels is halted, which gives deletes for what it has, and leaves the sets once it is empty. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "informer/shared/shared_factory_internal.h"
#include "object/pack/projection.h"

static void on_add(void *ctx, struct root *object, const struct event_info *info)
{
    struct shared *shared = ctx;
    struct text text;
    shared->namespaces.stale = true;
    if (!shared->namespaces.each) feed_join(shared->feed, root_name(object, &text));
}

static void on_delete(void *ctx, struct root *last, const struct event_info *info)
{
    struct shared *shared = ctx;
    struct text text;
    shared->namespaces.stale = true;
    if (!shared->namespaces.each) feed_leave(shared->feed, root_name(last, &text));
}

/* Every server has namespaces, so discovery need not be asked. */
static struct shared *acquire(struct shared_factory *factory, const char *selector)
{
    static const char *const metadata = "metadata";
    const struct resource resource = {.group = (char *)"",
                                      .version = (char *)"v1",
                                      .plural = (char *)"namespaces",
                                      .kind = (char *)"Namespace"};
    struct informer_key key;
    struct err err;
    struct projection *projection =
        projection_new((struct projection_paths){&metadata, 1}, (struct projection_paths){0}, &err);
    must(projection);
    informer_key_init(&key, &resource,
                      &(struct lw_scope){.namespace_ = "",
                                         .label_selector = selector,
                                         .field_selector = "",
                                         .projection = projection,
                                         .metadata_only = true});
    projection_unref(projection);
    return shared_acquire(factory, &key);
}

void shared_namespaces_start(struct shared *shared)
{
    struct shared_namespaces *own = &shared->namespaces;
    const struct event_handler handler = {.on_add = on_add, .on_delete = on_delete, .ctx = shared};
    err_clear(&own->limit);
    if (!informer_key_follows(&shared->key)) return;
    own->informer = acquire(shared->factory, shared->key.namespace_selector);
    shared->factory->following++;
    shared_informer_add_handler(own->informer->informer, &handler, &own->registration);
}

void shared_namespaces_end(struct shared *shared)
{
    struct shared_namespaces *own = &shared->namespaces;
    if (!own->informer) return;
    shared_informer_remove_handler(own->informer->informer, own->registration);
    shared_release(own->informer);
    own->informer = NULL;
    shared->factory->following--;
}

/* --- namespaces one by one */

struct namespace_names {
    char **items;
    size_t count;
};

static bool add_name(void *ctx, struct root *object)
{
    struct namespace_names *names = ctx;
    struct text text;
    struct str name = root_name(object, &text);
    *array_add(names->items, names->count) = xstrndup(name.p, name.n);
    return true;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int by_namespace(const void *a, const void *b)
{
    return strcmp((*(struct shared *const *)a)->key.namespace_, (*(struct shared *const *)b)->key.namespace_);
}

static void note_limit(struct shared *anchor, size_t count)
{
    struct err *limit = &anchor->namespaces.limit;
    err_clear(limit);
    if (count > NAMESPACE_WATCHES_MAX)
        err_set(
            limit, ERR_LIMIT,
            "%zu namespaces have the labels %s, and at most %d are watched one by one: %s has to be allowed "
            "to be listed and watched in all namespaces",
            count, anchor->key.namespace_selector, NAMESPACE_WATCHES_MAX, anchor->key.resource.plural);
    shared_touch(anchor);
}

static bool is_empty(const struct shared *shared)
{
    return indexer_count(shared_informer_indexer(shared->informer)) == 0 &&
           !shared_informer_has_work(shared->informer);
}

static struct shared *acquire_one(struct informer_claim *claim, const struct shared *anchor, const char *ns)
{
    struct informer_key key;
    informer_spec_key(&claim->spec, &anchor->key.resource, ns, &key);
    struct shared *one = shared_acquire(claim->factory, &key);
    if (one->left) feed_begin(one->feed);
    one->left = false;
    return one;
}

/* Keeps a namespace that left until its handlers were notified of the deletes. */
static bool keeps(struct shared *one, const struct namespace_names *names)
{
    const char *ns = one->key.namespace_;
    bool is_in = names->count && bsearch(&ns, names->items, names->count, sizeof *names->items, by_text);
    if (!*ns || is_in) return false;
    if (!one->left) feed_halt(one->feed);
    one->left = true;
    return !is_empty(one);
}

static struct informer_set *join_each(struct informer_claim *claim, struct shared *anchor)
{
    const struct informer_set *before = claim->set;
    struct shared_namespaces *own = &anchor->namespaces;
    struct namespace_names names = {0};
    indexer_each(shared_informer_indexer(own->informer->informer), add_name, &names);
    if (names.count) qsort(names.items, names.count, sizeof *names.items, by_text);
    note_limit(anchor, names.count);
    size_t watched = names.count < NAMESPACE_WATCHES_MAX ? names.count : NAMESPACE_WATCHES_MAX, count = 0;
    struct shared **members = xcalloc(watched + before->count + 1, sizeof(struct shared *));
    members[count++] = anchor;
    anchor->claims++;
    for (size_t i = 0; i < watched; i++) members[count++] = acquire_one(claim, anchor, names.items[i]);
    for (size_t i = 0; i < before->count; i++) {
        if (!keeps(before->members[i], &names)) continue;
        members[count++] = before->members[i];
        before->members[i]->claims++;
        own->stale = true;
    }
    qsort(members, count, sizeof *members, by_namespace);
    for (size_t i = 0; i < names.count; i++) free(names.items[i]);
    free(names.items);
    return informer_set_join(claim->factory, members, count);
}

void claim_follow_each(struct informer_claim *claim)
{
    struct informer_set *before = claim->set;
    if (!before->members[0]->namespaces.each) return;
    claim->set = join_each(claim, before->members[0]);
    informer_set_release(before);
}

static void refresh(struct informer_claim *claim, struct shared *anchor)
{
    struct informer_set *before = claim->set, *set = join_each(claim, anchor);
    if (set != before) {
        claim_indexes_detach(claim);
        claim->set = set;
        claim_indexes_attach(claim);
        claim_handlers_join(claim, before);
        version_waits_move(informer_set_waits(before), informer_set_waits(set), claim);
    }
    informer_set_release(before);
    if (claim->factory->options.changed) claim->factory->options.changed(claim->factory->options.ctx, claim);
}

/* The first list of all is forbidden, so each namespace has its own informer from now on. */
static void split(struct shared *anchor)
{
    anchor->namespaces.each = anchor->namespaces.stale = true;
    log_info("Watching each namespace, as a watch of all is forbidden",
             F("informer", shared_informer_name(anchor->informer)));
    feed_halt(anchor->feed);
}

static void check_each(struct shared *anchor)
{
    struct shared_namespaces *own = &anchor->namespaces;
    struct informer_claim *claim;
    if (!own->each && anchor->state == CLAIM_FORBIDDEN && !shared_informer_has_synced(anchor->informer))
        split(anchor);
    if (!own->each || !own->stale) return;
    own->stale = false;
    TAILQ_FOREACH (claim, &anchor->factory->claims, link)
        if (claim->set && claim->set->members[0] == anchor) refresh(claim, anchor);
}

static void check(struct shared *shared)
{
    struct shared_namespaces *own = &shared->namespaces;
    if (own->begun) {
        check_each(shared);
        return;
    }
    /* A change of the awaited one is one of the informer that waits for it. */
    enum claim_state state = own->informer->state == CLAIM_SYNCED ? CLAIM_LISTING : own->informer->state;
    if (shared->state != state) shared_touch(shared);
    if (!registration_has_synced(own->registration)) return;
    own->begun = true;
    feed_begin(shared->feed);
}

void shared_namespaces_check(struct shared_factory *factory)
{
    struct shared *shared;
    if (!factory->following) return;
    TAILQ_FOREACH (shared, &factory->informers, link)
        if (shared->namespaces.informer) check(shared);
}
