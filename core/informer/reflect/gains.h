/* Slots that a feed gains while its watch runs: their objects are listed alone, so that objects of the other
 * slots wait for nothing. Their events are held back meanwhile, and what the list already has is not taken
 * again; as followed.h has it for namespaces. Owner: the feed, on the I/O thread. Reflectors borrow it. */
#pragma once
#include "informer/reflect/collection.h"
#include "informer/shard/shard_filter.h"

struct gains;

struct gains_options {
    const char *name; /* for logs: that of the reflector; borrowed for its life */
    enum shard_by by;
    struct delta_fifo *fifo; /* borrowed */
    struct clock *clock;     /* borrowed */
    /* Lists the objects of the slots and calls gains_listed with the result, not from in here. Returns what
     * `end_list` ends, once; that may be called from inside gains_listed. */
    void *(*start_list)(void *ctx, const struct slot_set *slots);
    void (*end_list)(void *ctx, void *list);
    void (*relist)(void *ctx); /* lists all slots anew */
    void *ctx;
};

struct gains *gains_new(const struct gains_options *options);
/* Ends its list. */
void gains_free(struct gains *gains);
/* Lists the slots of this generation whose objects are not in the cache, after a list in progress, which goes
 * on with those that are still owned. What is queued already is not listed again. */
void gains_list(struct gains *gains, const struct slot_set *owned, const struct slot_set *missing,
                int64_t generation);
/* Notes that only these slots are still owned. */
void gains_keep(struct gains *gains, const struct slot_set *owned);
/* Notes that a list of all slots that are owned is about to be queued. */
void gains_listed_all(struct gains *gains, const struct slot_set *owned);
/* Ends its list and forgets what it knows: a list of all slots begins, or there is no reflector. Returns
 * whether slots were being listed: the list of all has to be of the newest state then, too. */
bool gains_reset(struct gains *gains);

/* Takes the list, of the newest state: what it needs of `objects`. */
void gains_listed(struct gains *gains, struct collection *objects, struct str version);
/* Takes an event of the watch that must not be queued now: returns true with the reference. */
bool gains_take(struct gains *gains, enum lw_event_type type, struct root *object);
/* Returns the newest version of what was listed alone; "" for none. */
const char *gains_version(struct gains *gains);
