/* One handler of an informer, and which changes it receives: filters (I-18), unchanged updates (I-13, I-14,
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
    struct root *before; /* previous object of the cache; NULL for none */
    struct root *object; /* the new one, or the last */
    struct event_info info;
};

/* Returns the change of a put. The store decides whether the key is known, not the type of the server's event
 * (Q-19). */
struct change change_of_put(struct root *before, struct root *object, const struct event_info *info);

struct handler_list;

/* Progress of the initial delivery (I-5). */
enum handler_stage {
    HANDLER_WAITING, /* it receives nothing yet */
    HANDLER_INITIAL, /* it receives the store, or is next to */
    HANDLER_ACTIVE,
};

struct registration {
    struct handler_list *list;
    struct event_handler handler; /* with a reference to its options */
    enum handler_stage stage;
    uint64_t since; /* number of the delta after which it is notified, unless it waits */
    size_t shown;   /* position in the store during the initial delivery (indexer_next) */
    bool removed;   /* freed when no call is in flight */
    bool syncing;   /* the resync in progress is for it */
    int64_t next_resync_ms;
};

/* Copies the handler. */
struct registration *registration_new(const struct event_handler *handler, int64_t now_ms);
void registration_free(struct registration *registration);
/* Replaces the handler; the next resync stays due when it was, unless the period differs. */
void registration_replace(struct registration *registration, const struct event_handler *handler,
                          int64_t now_ms);
/* Returns the period; RESYNC_NEVER for none. */
int64_t registration_resync_ms(const struct registration *registration);
/* Decides whether a resync at this time is for it (I-16). */
bool registration_is_due(struct registration *registration, int64_t now_ms);
/* Calls at most two of the functions, or lets the handler keep the change; nothing once it is removed. */
void registration_notify(const struct registration *registration, const struct change *change);
/* Calls the functions for a change that the handler kept. Changes of one object may have been merged. */
void registration_deliver_kept(const struct event_handler *handler, const struct change *change);
