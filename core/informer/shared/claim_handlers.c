/* Handlers of a claim, each of which is one registration with every informer of its set; see
 * shared_factory.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "informer/shared/shared_factory_internal.h"
#include "object/value/selector.h"

static void handler_free(struct claim_handler *handler)
{
    handler_options_unref(handler->handler.options);
    free(handler->registrations);
    free(handler);
}

static void attach_handler(struct claim_handler *handler)
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
    if (claim->set) attach_handler(h);
    return h;
}

void claim_handlers_attach(struct informer_claim *claim)
{
    struct claim_handler *handler;
    TAILQ_FOREACH (handler, &claim->handlers, link)
        if (!handler->registrations) attach_handler(handler);
}

static void join_set(struct claim_handler *handler, const struct informer_set *before)
{
    struct informer_set *set = handler->claim->set;
    struct registration **registrations = xcalloc(set->count, sizeof *registrations);
    for (size_t i = 0; i < before->count; i++) {
        size_t at = 0;
        while (at < set->count && set->members[at] != before->members[i]) at++;
        if (at < set->count)
            registrations[at] = handler->registrations[i];
        else if (handler->registrations[i])
            shared_informer_remove_handler(before->members[i]->informer, handler->registrations[i]);
    }
    free(handler->registrations);
    handler->registrations = registrations;
    for (size_t i = 0; i < set->count; i++)
        if (!registrations[i])
            shared_informer_add_handler(set->members[i]->informer, &handler->handler, &registrations[i]);
}

void claim_handlers_join(struct informer_claim *claim, const struct informer_set *before)
{
    struct claim_handler *handler;
    TAILQ_FOREACH (handler, &claim->handlers, link)
        if (handler->registrations) join_set(handler, before);
}

bool claims_share(const struct informer_claim *a, const struct informer_claim *b)
{
    return a->set && a->set == b->set;
}

static bool has_labels(const char *selector, const struct root *object)
{
    struct selector *parsed = selector_parse(str_of(selector), NULL);
    bool has = parsed && selector_matches(parsed, root_labels(object));
    selector_free(parsed);
    return has;
}

static bool reads(const struct informer_key *key, const struct informer_key *other, const struct root *object)
{
    struct text text;
    if (strcmp(key->resource.group, other->resource.group) != 0 ||
        strcmp(key->resource.plural, other->resource.plural) != 0 ||
        strcmp(key->field_selector, other->field_selector) != 0)
        return false;
    /* Who knows the labels that its namespace had? */
    if (strcmp(key->namespace_selector, other->namespace_selector) != 0) return false;
    if (*key->namespace_ && !str_is(root_namespace(object, &text), key->namespace_)) return false;
    return strcmp(key->label_selector, other->label_selector) == 0 || has_labels(key->label_selector, object);
}

bool claim_reads(const struct informer_claim *claim, const struct informer_claim *other,
                 const struct root *object)
{
    if (other->factory != claim->factory) return false; /* of another cluster */
    for (size_t i = 0; other->set && claim->set && i < claim->set->count; i++)
        if (reads(&claim->set->members[i]->key, &other->set->members[0]->key, object)) return true;
    return false;
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
