/* Internals of a reflector, shared by its parts: reflector.c has start, stop and what follows a failure,
 * reflector_list.c the pages of a list, reflector_watch_list.c the list that is a stream, reflector_watch.c
 * the events of a watch, reflector_status.c the status for others. Each row of the contract's decision table
 * is named where it is decided. Owner: the I/O thread. Sink callbacks are the only way in from outside. */
#pragma once
#include <pthread.h>

#include "base/buf.h"
#include "base/time/backoff.h"
#include "informer/reflect/collection.h"
#include "informer/reflect/reflector.h"
#include "informer/reflect/refusals.h"

/* Next step after a delay. */
enum reflector_next {
    NEXT_CYCLE, /* list, then watch */
    NEXT_WATCH, /* only the watch, from the last version */
    NEXT_PROOF, /* nothing: the watch that opened has lasted */
};

/* A list under way, or what a watch-list has brought so far: one pointer for each object until its end (B-3).
 */
struct list_progress {
    int64_t started_ms;
    struct collection objects;
    /* Of a list: */
    const char *version; /* of the first page's request: "", "0", or the last one seen */
    int limit;           /* chosen for the first try and kept for the second */
    bool alone;          /* on connections of its own, as the one it would share may be dead (B-1) */
    bool whole;          /* without pages, as they no longer fitted together (P-3) */
    bool second_try;     /* after Expired or a version too large */
    bool paginated; /* it took more than one page (P-5), or one broke off and was asked for whole (P-3) */
    size_t pages;   /* answered */
    unsigned empty_pages;     /* in a row */
    bool page_complete;       /* the current page's end came */
    struct buf token;         /* to go on with */
    struct buf found_version; /* the first page's: the list's (P-4) */
    struct refusals refusals;
};

struct watch_progress {
    int64_t started_ms;
    uint64_t events; /* bookmarks included, refused ones not */
    bool opened;     /* the response began, with status 200 */
    bool unordered;  /* still in the synthetic ADDEDs of a watch from "" or "0" */
    bool collecting; /* a watch-list before its end bookmark */
    unsigned fresh;  /* of a watch-list: objects since the deadline was moved */
    bool changing;   /* of a watch-list: an event came that is not part of the initial state */
};

struct reflector {
    struct reflector_options options;
    char *name, *resource;
    struct jitter jitter;
    struct backoff backoff;
    struct timer delay;
    enum reflector_next after_delay;
    struct timer deadline;    /* of a watch-list's end bookmark */
    struct timer resync;      /* */
    int64_t resynced_ms;      /* when the last one was asked for, or the watch began */
    struct lw_call *call;     /* the list or watch that runs; NULL for none */
    struct buf version;       /* last seen */
    bool version_unavailable; /* the server no longer, or not yet, has it */
    bool pages_always;   /* the first "0" list came in pages: the server has no watch cache */
    struct buf fallback; /* why this cycle lists although watch-lists are on; empty: it does not */
    struct list_progress list;
    struct watch_progress watch;
    struct refusals refusals;               /* of the last whole list and of what the watch brought since */
    struct error_window internal_errors;    /* */
    int64_t alive_since_ms, alive_until_ms; /* of watches in a row without a failure; -1 for none */
    uint64_t interruption;                  /* hash of the last one's text */
    int64_t interruption_quiet_ms;          /* no line about the same before this instant */
    int64_t refusal_quiet_ms;               /* no line about a refused object before this instant */
    uint64_t refusals_unlogged;
    int64_t failing_since_ms; /* the first failure that was logged and not made up for; -1 for none */
    pthread_mutex_t lock;     /* of `status` */
    struct reflector_status status;
};

/* --- reflector.c */

/* Starts a new cycle: a watch-list or a list, then a watch. */
/* The watch works, with a complete cache behind it: logs that, if a failure was logged before. */
void reflector_recovered(struct reflector *r);
void reflector_start_cycle(struct reflector *r);
/* A stream ended with an error, but goes on at once: its cause is shown and logged. */
void reflector_interrupted(struct reflector *r, const struct err *err);
/* A stream ended and what follows has to wait: shows and logs the cause, starts the delay.
 */
void reflector_failed(struct reflector *r, const struct err *err, enum reflector_next next);

/* --- reflector_status.c */

/* A whole list goes into the queue. */
struct list_result {
    enum reflector_sync by;
    const char *text; /* borrowed */
    size_t objects, pages;
    int64_t took_ms;
};

void reflector_notify(struct reflector *r);
void reflector_enter(struct reflector *r, enum reflector_state state);
/* `counter` is one of r->status.counters. */
void reflector_count(struct reflector *r, uint64_t *counter, uint64_t n);
/* A new last version. */
void reflector_saw_version(struct reflector *r, struct str version);
/* To be called before the list is in the queue: who finds the cache synced finds here how. */
void reflector_listed(struct reflector *r, const struct list_result *result);
/* The server answered a watch with its stream: whatever was wrong is over. */
void reflector_opened(struct reflector *r);
/* Something came by the watch; so is it now. */
void reflector_saw_event(struct reflector *r, bool is_object);
/* An object was refused alone; the stream goes on. It is one of `refusals`: the list's, or all. */
void reflector_refused(struct reflector *r, struct refusals *refusals, const struct lw_refusal *refusal);
/* An object came by the watch that is not refused, or is gone. */
void reflector_accepted(struct reflector *r, const struct root *object);
void reflector_set_error(struct reflector *r, const struct err *err);

/* --- reflector_list.c */

/* `alone`: the server was silent; what is shared with other requests may be a dead connection. */
void reflector_start_list(struct reflector *r, bool alone);
void list_progress_clear(struct list_progress *list);

/* --- reflector_watch.c */

void reflector_start_watch(struct reflector *r);
/* Sends the request of a plain watch, or of a watch-list; both have the same sink. */
void reflector_open_watch(struct reflector *r, bool watch_list);
/* Watches have begun to work: their health counts from here on, and resyncs are due. */
void reflector_watch_runs(struct reflector *r);
void reflector_on_resync(struct timer *timer);
/* A connection that ends, however rudely, says nothing against the version: what came is whole (H-10). */
bool reflector_is_end_of_stream(const struct err *err);
bool reflector_was_very_short(const struct reflector *r);

/* --- reflector_watch_list.c */

/* Returns whether this cycle may begin with a watch-list; notes the reason if not. */
bool reflector_may_watch_list(struct reflector *r);
void reflector_start_watch_list(struct reflector *r);
/* Events of the watch while r->watch.collecting. */
void watch_list_event(struct reflector *r, enum lw_event_type type, struct root *object);
void watch_list_bookmark(struct reflector *r, const struct lw_bookmark *bookmark);
void watch_list_refused(struct reflector *r, const struct lw_refusal *refusal);
void watch_list_ended(struct reflector *r, const struct err *err);
void watch_list_deadline(struct timer *timer);
