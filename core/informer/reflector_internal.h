/* What the parts of a reflector share: reflector.c has start, stop and what follows a failure,
 * reflector_list.c the pages of a list, reflector_watch.c the events of a watch, reflector_status.c what
 * others may know. Each row of the contract's decision table is named where it is decided. Owner: the I/O
 * thread. Sink callbacks are the only way in from outside. */
#pragma once
#include <pthread.h>

#include "base/buf.h"
#include "informer/backoff.h"
#include "informer/reflector.h"

/* What follows a delay. */
enum reflector_next {
    NEXT_CYCLE, /* list, then watch */
    NEXT_WATCH, /* only the watch, from the last version */
};

/* A list under way: one pointer for each object until its end (B-3). */
struct list_progress {
    const char *version; /* of the first page's request: "", "0", or the last one seen */
    int limit;           /* chosen for the first try and kept for the second */
    bool whole;          /* without pages, as they no longer fitted together (P-3) */
    bool second_try;     /* after Expired or a version too large */
    bool paginated; /* it took more than one page (P-5), or one broke off and was asked for whole (P-3) */
    size_t pages;   /* answered */
    int64_t started_ms;
    bool page_complete;       /* the current page's end came */
    struct buf token;         /* to go on with */
    struct buf found_version; /* the first page's: the list's (P-4) */
    struct root **objects;
    size_t count, cap;
    struct delta_refused *refused; /* NULL: nothing was */
};

struct watch_progress {
    int64_t started_ms;
    uint64_t events; /* bookmarks included, refused ones not */
    bool unordered;  /* still in the synthetic ADDEDs of a watch from "" or "0" */
};

struct reflector {
    struct reflector_options options;
    char *name;
    struct jitter jitter;
    struct backoff backoff;
    struct timer delay;
    enum reflector_next after_delay;
    struct lw_call *call;     /* the list or watch that runs; NULL for none */
    struct buf version;       /* last seen */
    bool version_unavailable; /* the server no longer, or not yet, has it */
    bool pages_always; /* the first "0" list came in pages: the server has no watch cache */
    struct list_progress list;
    struct watch_progress watch;
    int64_t alive_since_ms, alive_until_ms; /* of watches in a row without a failure; -1 for none */
    uint64_t interruption;                  /* hash of the last one's text */
    int64_t interruption_quiet_ms;          /* no line about the same before this instant */
    pthread_mutex_t lock;                   /* of `status` */
    struct reflector_status status;
};

/* --- reflector.c */

/* A stream ended with an error, but goes on at once: its cause is shown and logged. */
void reflector_interrupted(struct reflector *r, const struct err *err);
/* A stream ended and what follows has to wait: shows and logs the cause, starts the delay.
 */
void reflector_failed(struct reflector *r, const struct err *err, enum reflector_next next);

/* --- reflector_status.c */

/* A whole list is in the queue. */
struct list_result {
    enum reflector_sync by;
    const char *text; /* borrowed */
    size_t objects, pages;
    int64_t took_ms;
};

void reflector_tell_changed(struct reflector *r);
void reflector_enter(struct reflector *r, enum reflector_state state);
/* `counter` is one of r->status.counters. */
void reflector_count(struct reflector *r, uint64_t *counter, uint64_t n);
/* A new last version. */
void reflector_saw_version(struct reflector *r, struct str version);
void reflector_listed(struct reflector *r, const struct list_result *result);
/* The server answered a watch with its stream: whatever was wrong is over. */
void reflector_opened(struct reflector *r);
/* Something came by the watch; so is it now. */
void reflector_saw_event(struct reflector *r, bool is_object);
/* An object was refused alone; the stream goes on. */
void reflector_refused(struct reflector *r, const struct lw_refusal *refusal);
void reflector_show_error(struct reflector *r, const struct err *err);

/* --- reflector_list.c */

void reflector_start_list(struct reflector *r);
void list_progress_clear(struct list_progress *list);

/* --- reflector_watch.c */

void reflector_start_watch(struct reflector *r);
