/* One handler of an informer, and what of a change it is told: filters (I-18), unchanged updates (I-13, I-14,
 * B-4), recreated objects, resyncs (I-15, I-16). Owner: the handler list, on the engine thread. */
#pragma once
#include "informer/shared/shared_informer.h"

enum notification {
    NOTIFY_ADD,
    NOTIFY_UPDATE,
    NOTIFY_UNCHANGED, /* an update to the version that is known already */
    NOTIFY_RESYNC,
    NOTIFY_DELETE,
};

struct change {
    enum notification call;
    struct root *before; /* what the cache had; NULL: nothing */
    struct root *object; /* the new one, or the last */
    struct event_info info;
};

/* The store took `object` where `before` was. Q-19: what counts is whether the store knows the key, not what
 * the server called the event. */
struct change change_of_put(struct root *before, struct root *object, const struct event_info *info);

struct handler_list;

/* I-5: from its arrival until it has been shown the store. */
enum handler_stage {
    HANDLER_WAITING, /* it hears of nothing */
    HANDLER_INITIAL, /* it is shown the store, or is the next to be */
    HANDLER_ACTIVE,
};

struct registration {
    struct handler_list *list;
    struct event_handler handler; /* with a reference to its options */
    enum handler_stage stage;
    uint64_t since; /* once it does not wait: it hears of the turns after this one */
    size_t shown;   /* while it is shown the store: its place in there (indexer_next) */
    bool removed;   /* freed when no call is under way */
    bool syncing;   /* the resync that is being processed is for it */
    int64_t next_resync_ms;
};

/* Copies the handler. */
struct registration *registration_new(const struct event_handler *handler, int64_t now_ms);
void registration_free(struct registration *registration);
/* Another handler in its place; the next resync is due when it was, unless the period is another one. */
void registration_replace(struct registration *registration, const struct event_handler *handler,
                          int64_t now_ms);
/* RESYNC_NEVER for none. */
int64_t registration_resync_ms(const struct registration *registration);
/* I-16: decides whether the resync of this instant is for it. */
bool registration_is_due(struct registration *registration, int64_t now_ms);
/* Calls at most two of the functions, and none once it is removed. */
void registration_notify(const struct registration *registration, const struct change *change);
