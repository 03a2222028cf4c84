/* The handlers of a claim: each is one registration with every informer of its set; see shared_factory.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"
#include "informer/shared_factory_internal.h"

static void handler_free(struct claim_handler *handler)
{
    handler_options_unref(handler->handler.options);
    free(handler->registrations);
    free(handler);
}

static void attach(struct claim_handler *handler)
{
    struct informer_set *set = handler->claim->set;
    handler->registrations = xcalloc(set->count, sizeof(struct registration *));
    for (size_t i = 0; i < set->count; i++)
        shared_informer_add_handler(set->members[i]->informer, &handler->handler, &handler->registrations[i]);
}

struct claim_handler *claim_add_handler(struct informer_claim *claim, const struct event_handler *handler)
{
    struct claim_handler *h = NEW(struct claim_handler);
    h->claim = claim;
    h->handler = *handler;
    if (handler->options) handler_options_ref(handler->options);
    TAILQ_INSERT_TAIL(&claim->handlers, h, link);
    if (claim->set) attach(h);
    return h;
}

void claim_handlers_attach(struct informer_claim *claim)
{
    struct claim_handler *handler;
    TAILQ_FOREACH (handler, &claim->handlers, link)
        if (!handler->registrations) attach(handler);
}

bool claims_share(const struct informer_claim *a, const struct informer_claim *b)
{
    return a->set && a->set == b->set;
}

void claim_move_handler(struct claim_handler *h, struct informer_claim *to, const struct event_handler *with)
{
    struct handler_options *before = h->handler.options;
    must(h->claim->set == to->set);
    TAILQ_REMOVE(&h->claim->handlers, h, link);
    TAILQ_INSERT_TAIL(&to->handlers, h, link);
    h->claim = to;
    h->handler = *with;
    if (with->options) handler_options_ref(with->options);
    handler_options_unref(before);
    for (size_t i = 0; h->registrations && i < to->set->count; i++)
        shared_informer_replace_handler(to->set->members[i]->informer, h->registrations[i], with);
}

void claim_remove_handler(struct claim_handler *handler)
{
    struct informer_claim *claim = handler->claim;
    for (size_t i = 0; handler->registrations && i < claim->set->count; i++)
        if (handler->registrations[i])
            shared_informer_remove_handler(claim->set->members[i]->informer, handler->registrations[i]);
    TAILQ_REMOVE(&claim->handlers, handler, link);
    handler_free(handler);
}

bool claim_handler_has_synced(const struct claim_handler *handler)
{
    if (!handler->registrations) return false;
    for (size_t i = 0; i < handler->claim->set->count; i++)
        if (!handler->registrations[i] || !registration_has_synced(handler->registrations[i])) return false;
    return true;
}
