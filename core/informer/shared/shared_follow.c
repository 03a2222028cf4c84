/* Resources that disappear, come back or change their version while an informer of them runs; see
 * shared_factory_internal.h. The server responds 404 to a list; discovery then knows more. The store and the
 * handlers stay: the next list is compared with the known objects, so that an object that only changed its
 * version is an update. */
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "informer/shared/shared_factory_internal.h"

bool shared_is_missing(const struct shared *shared, const struct reflector_status *status)
{
    /* Only while backing off: in any other state a request in flight is going to tell. */
    return shared->gone.code ||
           (status->last_error.http_status == 404 && status->state == REFLECTOR_BACKING_OFF);
}

static bool is_missing(struct shared *shared)
{
    struct reflector_status status = {0};
    feed_get_status(shared->feed, &status);
    return !feed_is_restarting(shared->feed) && shared_is_missing(shared, &status);
}

static bool resolves(const struct catalogue *catalogue, const struct informer_claim *claim,
                     struct resource *out, struct err *err)
{
    return catalogue_resolve(catalogue, str_of(claim->spec.kind), out, err);
}

/* --- gone */

static void become_gone(struct shared *shared, const struct err *why)
{
    bool news = !shared->gone.code;
    const struct resource *was = &shared->key.resource;
    err_set(&shared->gone, ERR_NOT_FOUND, "%s%s%s is no longer served: %s", was->group,
            *was->group ? "/" : "", was->version, why->text);
    if (!news) return;
    log_warn("Kind is no longer served, waiting for it",
             F("informer", shared_informer_name(shared->informer)), F("err", shared->gone.text));
    shared_touch(shared);
}

/* --- somewhere else */

/* Returns whether a claim means another resource than the one to which the informer moves, as it names a
 * version. */
static bool stays_behind(const struct informer_claim *claim, const struct shared *shared,
                         const struct catalogue *catalogue)
{
    struct resource found;
    if (!claim->set || !informer_set_has(claim->set, shared)) return false;
    if (!resolves(catalogue, claim, &found, NULL)) return true;
    bool along = resource_equal(&found, &shared->key.resource);
    resource_clear(&found);
    return !along;
}

/* Moves the handlers whose initial delivery is complete, or the others. */
static void move_handlers(struct informer_claim *claim, struct shared *from, struct shared *to,
                          bool delivered)
{
    struct claim_handler *handler;
    size_t at = 0;
    while (claim->set->members[at] != from) at++;
    TAILQ_FOREACH (handler, &claim->handlers, link) {
        struct registration *registration = handler->registrations ? handler->registrations[at] : NULL;
        if (!registration || registration_initial_done(registration) != delivered) continue;
        shared_informer_remove_handler(from->informer, registration);
        handler->registrations[at] = NULL;
        shared_informer_add_handler(to->informer, &handler->handler, &handler->registrations[at]);
    }
}

static void change_set(struct informer_claim *claim, struct shared *from, struct shared *to)
{
    struct informer_set *before = claim->set;
    struct shared **members = xcalloc(before->count, sizeof(struct shared *));
    for (size_t i = 0; i < before->count; i++) {
        members[i] = before->members[i] == from ? to : before->members[i];
        members[i]->claims++;
    }
    claim_indexes_detach(claim);
    claim->set = informer_set_join(claim->factory, members, before->count);
    claim_indexes_attach(claim);
    /* No wait is reached by the move: the objects of `to` are copied, not from a list of its own, so it has
     * no version. */
    version_waits_move(informer_set_waits(before), informer_set_waits(claim->set), claim);
    version_waits_move(shared_informer_waits(from->informer), shared_informer_waits(to->informer), claim);
    informer_set_release(before);
}

/* Starts an informer of their own for the claims that stay, with the known objects. Handlers that received
 * these join while its store is still empty, so that they are not delivered again; the others join after the
 * copy and receive them there. */
static void leave_behind(struct shared *shared, const struct catalogue *catalogue,
                         const struct informer_key *old)
{
    struct shared_factory *factory = shared->factory;
    struct shared *behind = NULL;
    struct informer_claim *claim;
    TAILQ_FOREACH (claim, &factory->claims, link) {
        if (!stays_behind(claim, shared, catalogue)) continue;
        if (!behind) {
            struct informer_key key;
            struct lw_scope scope = informer_key_scope(old);
            informer_key_init(&key, &old->resource, &scope);
            key.shard = shared->key.shard;
            behind = shared_start(factory, &key);
            /* Notifies the remaining handlers first: later lists do not deliver as new what the store already
             * has. */
            shared_informer_finish_delta(shared->informer);
        }
        move_handlers(claim, shared, behind, true);
    }
    if (!behind) return;
    indexer_put_all(shared_informer_indexer(behind->informer), shared_informer_indexer(shared->informer));
    TAILQ_FOREACH (claim, &factory->claims, link) {
        if (!stays_behind(claim, shared, catalogue)) continue;
        move_handlers(claim, shared, behind, false);
        change_set(claim, shared, behind);
    }
}

/* Moves the informer to another resource; it keeps its name, store and handlers. Takes `target`. */
static void move(struct shared *shared, const struct catalogue *catalogue, struct resource *target)
{
    struct informer_key old;
    struct lw_scope scope = informer_key_scope(&shared->key);
    informer_key_init(&old, &shared->key.resource, &scope);
    resource_clear(&shared->key.resource);
    shared->key.resource = *target;
    if (!target->namespaced) shared->key.namespace_[0] = '\0';
    log_info("Kind is now served in another version", F("informer", shared_informer_name(shared->informer)),
             F("from", old.resource.version), F("to", target->version));
    informer_metrics_clear(&shared->metrics); /* their labels contain the version */
    shared_start_metrics(shared);
    leave_behind(shared, catalogue, &old);
    informer_key_clear(&old);
}

void shared_follow(struct shared *shared, const struct catalogue *catalogue)
{
    struct informer_claim *claim;
    struct resource target;
    struct err err;
    bool found = false, claimed = false;
    if (!is_missing(shared)) return;
    TAILQ_FOREACH (claim, &shared->factory->claims, link) {
        if (found || !claim->set || !informer_set_has(claim->set, shared)) continue;
        claimed = true;
        found = resolves(catalogue, claim, &target, &err);
    }
    if (!claimed) return; /* its grace period ends it */
    if (!found) {
        become_gone(shared, &err);
        return;
    }
    if (resource_equal(&target, &shared->key.resource)) {
        resource_clear(&target);
        /* Discovery still lists it, or lists it again. Only a list can tell whether it was there all the
         * time, and the reflector retries one after increasing delays. */
        if (!shared->gone.code) return;
    } else {
        move(shared, catalogue, &target);
    }
    err_clear(&shared->gone);
    shared_touch(shared);
    feed_restart(shared->feed);
}
