/* Events of a handler that are queued behind its calls in flight, in order of arrival; with `by_key` in order
 * for each key, and locked keys are passed over at no cost. From `mark` events on, an event is merged into
 * the last one of its key: there are never more than `mark` events plus two for each key, three behind a
 * recalled add (I-8, B-2). Owner: the handler that embeds it, on the engine thread. Objects in it are
 * references. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "script/handlers/handler_event.h"

/* Treatment of a delete followed by an add, and of a recalled add followed by its delete, which stay two
 * except with PENDING_PICK_DELETES. */
enum pending_pairs {
    PENDING_JOIN_ALL,        /* an update */
    PENDING_SPLIT_RECREATED, /* the same, but with another uid they stay two */
    PENDING_KEEP_PAIRS,      /* they stay two: the handler has no function for updates */
    PENDING_PICK_DELETES,    /* two: deletes are picked out, with the state delivered before each */
};

struct pending_entry;
struct pending_key;

struct pending_events {
    TAILQ_HEAD(, pending_entry) entries; /* all of them */
    TAILQ_HEAD(, pending_key) ready;     /* unlocked keys with events, in the order of their turns */
    struct pending_key *keys;            /* keys that have events or are locked, by the object */
    size_t count, mark;
    size_t most;    /* of them since there were none */
    size_t initial; /* initial objects among them, but for disowned ones */
    size_t lost;    /* lost ones among them, and disowned ones that may become that */
    enum pending_pairs pairs;
    bool by_key;
};

void pending_init(struct pending_events *pending, size_t mark, enum pending_pairs pairs, bool by_key);
/* Drops all events; keys stay locked. */
void pending_clear(struct pending_events *pending);
/* Adds an event, with references of its own. Returns true if it was merged into another one. */
bool pending_put(struct pending_events *pending, const struct handler_event *event);
/* Like pending_put, but never merges. */
void pending_append(struct pending_events *pending, const struct handler_event *event);
/* Removes the next event, whose references the caller takes; false when there is none. By key, takes it from
 * an unlocked key; keys take turns. */
bool pending_take(struct pending_events *pending, struct handler_event *event);
/* Locks the key of the object: none of its events is taken until an equal number of pending_unlock calls. By
 * key only. */
struct pending_key *pending_lock(struct pending_events *pending, struct root *object);
void pending_unlock(struct pending_events *pending, struct pending_key *key);
bool pending_is_locked(const struct pending_events *pending, const struct root *object);
/* Drops the events for which `drops` returns true. It may make others lost or disowned. */
void pending_drop(struct pending_events *pending, bool (*drops)(void *ctx, struct handler_event *event),
                  void *ctx);
/* The same for those of one key. */
void pending_drop_of(struct pending_events *pending, const struct root *object,
                     bool (*drops)(void *ctx, struct handler_event *event), void *ctx);
/* The end of the object came, and is not put. */
void pending_note_gone(struct pending_events *pending, const struct root *object);
/* Returns whether there is a lost object for which `is` returns true, or a disowned event of one but an add,
 * as a filter may make a delete of that. */
bool pending_has_lost(const struct pending_events *pending, bool (*is)(void *ctx, const struct root *object),
                      void *ctx);
/* Returns whether pending_take would return an event. */
bool pending_has_next(const struct pending_events *pending);
