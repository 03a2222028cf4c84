/* Keeps a DeltaFIFO up to date with the server: list in pages or by a watch-list, then watch, resume, back
 * off, list again (contract R, P and its decision table). A state machine without a thread of its own. Owner:
 * the I/O thread. The status may be read from any thread. Delays come from the clock in its options, so that
 * tests run it on a virtual one. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "informer/reflect/delta_fifo.h"
#include "kube/api/list_watch.h"

enum reflector_state {
    REFLECTOR_IDLE,     /* created and not started */
    REFLECTOR_LISTING,  /* by requests for lists */
    REFLECTOR_WATCHING, /* a watch is open, or being opened */
    REFLECTOR_BACKING_OFF,
    REFLECTOR_WATCH_LISTING, /* by a watch that begins with all objects */
};

/* Way in which the queue received its last complete list. */
enum reflector_sync {
    REFLECTOR_SYNC_NONE, /* no list yet */
    REFLECTOR_SYNC_LIST,
    REFLECTOR_SYNC_WATCH_LIST,
    REFLECTOR_SYNC_FALLBACK, /* by a list, because a watch-list failed just now or recently (B-1) */
    REFLECTOR_SYNC_STORED,   /* from the stored cache of an earlier run */
};

/* Counters behind the metrics of a reflector (I-24); all since it was created. */
struct reflector_counters {
    uint64_t lists, list_pages; /* lists begun, also those begun again (R-10, P-3); pages that came */
    uint64_t lists_done, list_ms, listed_items; /* complete lists, their duration, their objects */
    uint64_t watch_lists,
        watch_lists_done;                /* started; with an end bookmark, which also count as lists done */
    uint64_t watches, short_watches;     /* started, without watch-lists; very short ones */
    uint64_t watches_done, watch_ms;     /* watches that ended, their duration */
    uint64_t watched_objects, bookmarks; /* events of all watches */
    uint64_t refused, relists;           /* objects refused; cycles after the first */
};

enum { REFLECTOR_SYNC_TEXT_MAX = 256, REFLECTOR_REFUSED_TEXT_MAX = 512 };

struct reflector_status {
    enum reflector_state state;
    bool listed_once;          /* the first list is in the queue */
    int64_t since_us;          /* wall time of the last change of state */
    int64_t heard_us;          /* wall time of the last list, event or bookmark; 0 before the first */
    char resource_version[64]; /* newest seen; "" before the first */
    struct err last_error;     /* ERR_NONE if there is none (R-24, B-7); cleared by a list, by a watch that
                                  opened, by an event */
    enum reflector_sync synced_by;
    char sync_text[REFLECTOR_SYNC_TEXT_MAX]; /* the same for users: "list in 3 pages: the server ..." */
    int64_t synced_us;              /* wall time at which that list was complete; 0 before the first */
    size_t pages;                   /* pages of that list; 0 for a watch-list */
    size_t received, expected;      /* objects of the list in progress so far, and in all; 0: not known */
    int64_t no_watch_list_until_us; /* wall time until which watch-lists of this resource are known not to
                                       work (B-1); 0: not known */
    size_t refused; /* objects that the server has, as far as is known, and that are refused */
    char refused_text[REFLECTOR_REFUSED_TEXT_MAX]; /* reason for one of them */
    struct reflector_counters counters;
};

/* Objects that an earlier run stored, and the version from which a watch goes on. */
struct stored_list {
    struct root **objects; /* malloc'ed, with a reference each */
    size_t count;
    char *version;    /* malloc'ed; NULL: there is no stored list */
    int64_t saved_us; /* wall time */
};

/* Releases what it has. */
void stored_list_clear(struct stored_list *list);

struct collection;
struct followed;
struct gains;
struct shard_filter;
struct watch_list_memory;

/* Return short fixed names for users: "watching", "watch-list". */
const char *reflector_state_name(enum reflector_state state);
const char *reflector_sync_name(enum reflector_sync sync);

enum watch_list_mode {
    WATCH_LIST_OFF,  /* lists only */
    WATCH_LIST_AUTO, /* first, unless it failed for this resource within the last hour (B-1) */
    WATCH_LIST_ON,   /* first in every cycle */
};

/* Settings that users may change; the same for all reflectors of a server. All zero: lists only, else the
 * defaults. */
struct reflector_tuning {
    enum watch_list_mode watch_list;
    int64_t watch_list_deadline_ms;   /* 0: 30,000 */
    int64_t internal_error_window_ms; /* R-27; 0: off */
    int page_size;                    /* of every list; 0: as in R-9 */
};

struct reflector_options {
    const char *name; /* for logs: "pods", "deployments.apps in shop"; copied */
    /* Memory of watch-lists that do not work, and the name of the resource in it ("deployments.apps";
     * copied). NULL: nothing is remembered. */
    struct watch_list_memory *memory; /* borrowed */
    const char *resource;
    struct reflector_tuning tuning;
    struct list_watch *source;  /* taken */
    struct delta_fifo *fifo;    /* borrowed */
    struct stored_list stored;  /* taken; begins with it instead of a list */
    struct followed *followed;  /* borrowed: the namespaces whose objects are wanted; NULL: all */
    struct shard_filter *shard; /* borrowed: the slots whose objects are wanted; NULL: all */
    struct gains *gains;        /* borrowed: those of them that are listed alone; NULL: none ever are */
    /* Called with the first list, which is of the newest state; then nothing follows. It takes what it needs
     * of `objects`, and must not free the reflector. NULL: everything goes to the queue. */
    void (*listed)(void *ctx, struct collection *objects, struct str version);
    struct clock *clock; /* borrowed */
    uint64_t seed;       /* of the jitter */
    /* Called on each change of status, on the I/O thread; optional. */
    void (*changed)(void *ctx);
    void *ctx;
};

struct reflector;

struct reflector *reflector_new(const struct reflector_options *options);
void reflector_start(struct reflector *reflector);
/* Starts a new cycle in place of what is going on. Not from one of its callbacks. */
void reflector_relist(struct reflector *r);
/* Likewise with the newest state, whatever was seen of it. */
void reflector_relist_newest(struct reflector *r);
/* Opens the watch anew from its last version, as its scope has another selector. Returns false, and does
 * nothing, without a watch from a known version. Not from one of its callbacks. */
bool reflector_rewatch(struct reflector *r);
/* Cancels the request in flight: no callback follows. From one of its own callbacks too, which may not free
 * it. */
void reflector_stop(struct reflector *reflector);
/* Likewise. Nothing more is queued. */
void reflector_free(struct reflector *reflector);
void reflector_get_status(struct reflector *reflector, struct reflector_status *out);
