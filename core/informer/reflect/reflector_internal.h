/* Internals of a reflector, shared by its parts: reflector.c has start, stop and failures, reflector_list.c
 * the pages of a list, reflector_watch_list.c the list as a stream, reflector_watch.c the events of a watch,
 * reflector_status.c the status for others. Each row of the contract's decision table is named where it is
 * decided. Owner: the I/O thread; everything else enters through callbacks of the sink. */
#pragma once
#include <pthread.h>

#include "base/buf.h"
#include "base/time/backoff.h"
#include "informer/reflect/collection.h"
#include "informer/reflect/followed.h"
#include "informer/reflect/gains.h"
#include "informer/reflect/reflector.h"
#include "informer/reflect/refusals.h"
#include "informer/shard/shard_filter.h"
#include "object/value/value.h"

/* Next step after a delay. */
enum reflector_next {
    NEXT_CYCLE, /* list, then watch */
    NEXT_WATCH, /* only the watch, from the last version */
    NEXT_PROOF, /* nothing: the watch that opened has proved to work */
};

/* A list in progress, or the objects of a watch-list so far: one pointer for each object until its end (B-3).
 */
struct list_progress {
    int64_t started_ms;
    struct collection objects;
    /* Members of a list alone: */
    const char *version;  /* of the first page's request: "", "0", or the last one seen */
    int limit;            /* chosen for the first try and kept for the second */
    bool alone;           /* on connections of its own, as the shared one may be dead (B-1) */
    bool whole;           /* without pages, as they no longer belonged together (P-3) */
    bool second_try;      /* after Expired or a version too large */
    bool unordered;       /* versions do not tell which events it has */
    bool paginated;       /* more than one page came (P-5), or the list was repeated without pages (P-3) */
    size_t pages;         /* received */
    unsigned empty_pages; /* in a row */
    size_t expected;      /* objects in all, by the last page; 0: not known */
    bool page_complete;   /* the end of the current page came */
    struct buf token;     /* continue token of the next page */
    struct buf found_version; /* version of the first page, which is that of the list (P-4) */
    struct refusals refusals;
};

struct watch_progress {
    int64_t started_ms;
    uint64_t events; /* with bookmarks, without refused ones */
    bool opened;     /* the response began, with status 200 */
    bool unordered;  /* still in the synthetic ADDEDs of a watch from "" or "0" */
    bool collecting; /* a watch-list before its end bookmark */
    unsigned fresh;  /* of a watch-list: objects since the deadline was extended */
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
    int64_t resynced_ms;      /* time of the last resync, or at which the watch began */
    struct lw_call *call;     /* list or watch in flight; NULL for none */
    struct buf version;       /* newest seen */
    bool version_unavailable; /* the server no longer has it, or not yet */
    bool pages_always;        /* the list at "0" came in pages: the server has no watch cache */
    struct buf fallback; /* reason why this cycle lists although watch-lists are on; empty: it does not */
    struct list_progress list;
    struct watch_progress watch;
    struct refusals refusals;               /* of the last complete list and of the watch since */
    struct error_window internal_errors;    /* */
    int64_t alive_since_ms, alive_until_ms; /* of consecutive watches without a failure; -1 for none */
    uint64_t interruption;                  /* hash of the last one's text */
    int64_t interruption_quiet_ms;          /* the same error is not logged again before this time */
    int64_t refusal_quiet_ms;               /* no refused object is logged before this time */
    uint64_t refusals_unlogged;
    int64_t failing_since_ms; /* time of the first failure without a recovery; -1 for none */
    bool failure_logged;      /* one of them was, as the server was reachable */
    bool unreachable;         /* the last failure was that of the server as a whole */
    struct timer held;        /* until a cut is logged, unless it was the beginning of an outage */
    struct err held_err;
    int64_t held_delay_ms;
    pthread_mutex_t lock; /* guards `status` */
    struct reflector_status status;
};

/* --- reflector.c */

/* Logs that the watch works with a complete cache, if a failure was logged before. */
void reflector_recovered(struct reflector *r);
/* Starts a new cycle: a watch-list or a list, then a watch. */
void reflector_start_cycle(struct reflector *r);
/* Returns the newest version that the cache may have. */
const char *reflector_newest_version(struct reflector *r);
/* Returns whether objects of that namespace are wanted. */
bool reflector_admits(const struct reflector *r, struct str ns);
/* Likewise of the object. */
static inline bool reflector_wants(const struct reflector *r, const struct root *object)
{
    struct text text;
    if (r->options.shard && !shard_filter_wants(r->options.shard, object)) return false;
    return !r->options.followed || reflector_admits(r, root_namespace(object, &text));
}
/* Records and logs the error of a stream that is resumed immediately. */
void reflector_interrupted(struct reflector *r, const struct err *err);
/* Records and logs the error of a stream, and starts the delay before the next step. */
void reflector_failed(struct reflector *r, const struct err *err, enum reflector_next next);

/* --- reflector_status.c */

/* Figures of a complete list, for the status. */
struct list_result {
    enum reflector_sync by;
    const char *text; /* borrowed */
    size_t objects, pages;
    int64_t took_ms;
};

void reflector_notify(struct reflector *r);
void reflector_enter(struct reflector *r, enum reflector_state state);
/* Shows how far the list in progress is. Call for each object and each page; costs little. */
void reflector_received(struct reflector *r, bool is_page);
/* `counter` is one of r->status.counters. */
void reflector_count(struct reflector *r, uint64_t *counter, uint64_t n);
/* Records the newest version. */
void reflector_saw_version(struct reflector *r, struct str version);
/* Records a list. Call before it is queued: a reader that finds the cache synced finds here how. */
void reflector_listed(struct reflector *r, const struct list_result *result);
/* Records that the stream of a watch opened: clears the last error. */
void reflector_opened(struct reflector *r);
/* Records an event of the watch: clears the last error, and a failure counts as recovered. */
void reflector_saw_event(struct reflector *r, bool is_object);
/* Records an event that was skipped: the watch works. */
void reflector_skipped(struct reflector *r);
/* Records a refused object; the stream continues. `refusals` are the list's or the reflector's. */
void reflector_refused(struct reflector *r, struct refusals *refusals, const struct lw_refusal *refusal);
/* Ends the refusal of an object that the watch delivered or deleted. */
void reflector_accepted(struct reflector *r, const struct root *object);
void reflector_set_error(struct reflector *r, const struct err *err);

/* --- reflector_list.c */

/* Queues the stored list, and watches from its version. When the server no longer has that, the watch ends
 * with an error like any other, and a list follows that is compared with the cache. */
void reflector_start_stored(struct reflector *r);

/* Starts a list. `alone`: the server was silent, so a connection shared with other requests may be dead. */
void reflector_start_list(struct reflector *r, bool alone);
void list_progress_clear(struct list_progress *list);

/* --- reflector_watch.c */

void reflector_start_watch(struct reflector *r);
/* Sends the request of a plain watch or of a watch-list; both have the same sink. */
void reflector_open_watch(struct reflector *r, bool watch_list);
/* Marks watches as running: their health counts from here on, and resyncs are due. */
void reflector_watch_runs(struct reflector *r);
void reflector_on_resync(struct timer *timer);
/* Returns whether a stream only ended. A connection that breaks does not invalidate the version: every event
 * before it was complete (H-10). */
bool reflector_is_end_of_stream(const struct err *err);
bool reflector_was_very_short(const struct reflector *r);

/* --- reflector_watch_list.c */

/* Returns whether this cycle may begin with a watch-list; notes the reason if not. */
bool reflector_may_watch_list(struct reflector *r);
void reflector_start_watch_list(struct reflector *r);
/* Handle events of the watch while r->watch.collecting. */
void watch_list_event(struct reflector *r, enum lw_event_type type, struct root *object);
void watch_list_skipped(struct reflector *r);
void watch_list_bookmark(struct reflector *r, const struct lw_bookmark *bookmark);
void watch_list_refused(struct reflector *r, const struct lw_refusal *refusal);
void watch_list_ended(struct reflector *r, const struct err *err);
void watch_list_deadline(struct timer *timer);
