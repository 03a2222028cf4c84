/* Internals shared by both halves of a live read: live_client.c is the engine's, live_client_io.c the I/O
 * thread's. Each member belongs to one of them; `out` belongs to the thread that has the mail `answer`. For
 * these files only. */
#pragma once
#include <pthread.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "informer/live/live_client.h"
#include "informer/live/pager.h"
#include "informer/live/retry_watcher.h"

/* Most events that wait for their reader; then the watch is paused. */
enum { LIVE_EVENTS_MAX = 256 };

/* Bytes of lines that wait for their reader; then the stream is paused. */
enum { LIVE_TEXT_MAX = 64 << 10 };

/* Most requests in flight, watches excluded: without HTTP/2 each uses a connection. */
enum { LIVE_UNDER_WAY_MAX = 100 };

struct live_client {
    struct live_options options;
    LIST_HEAD(, live_read) reads; /* of the engine thread */
    uint64_t started;             /* of the engine thread, as the next two */
    unsigned under_way;
    TAILQ_HEAD(, live_read) queue; /* reads whose requests wait for others to end */
    pthread_mutex_t lock;
    pthread_cond_t ended;
    size_t running; /* guarded by the lock: reads that the I/O thread still uses */
};

struct live_read {
    struct live_client *live;
    /* Request; constant after creation. */
    struct object_request *request; /* NULL: a list or a watch, of which the rest is */
    enum live_verb verb;
    struct resource resource;
    char *namespace_, *label_selector, *field_selector, *version, *version_match;
    char *path; /* of lines */
    size_t limit, page_size;
    bool whole_if_expired;
    uint64_t seed;

    /* Requests to the I/O thread, responses to the engine thread. */
    struct mail start, next, stop, response, gone;

    /* Used by the engine thread alone. */
    LIST_ENTRY(live_read) link;
    void (*answered)(void *ctx, const struct live_response *response);
    object_done *done; /* instead, of a request */
    void *ctx;
    bool closed;
    bool counted;        /* its request counts as in flight */
    struct mail *queued; /* its request while queued; NULL if it is not */
    TAILQ_ENTRY(live_read) queue_link;

    /* Used by the I/O thread alone. */
    struct object_call *call; /* of a request */
    struct pager *pager;
    struct retry_watcher *watcher;
    struct text_stream *stream;
    struct live_response filling; /* of a watch: events since the last response; of lines: their text */
    bool is_awaited;              /* the engine thread waits for a response */
    bool over;                    /* the watch ended with `err`; the stream too, if that is set */
    struct err err;

    /* Response in flight. */
    struct live_response out;
    struct object_response result; /* of a request */
    struct buf text;               /* of its result */
    struct err out_err;
    struct buf out_version;
};

/* Deliveries on the I/O thread. */
void live_io_start(struct mail *mail);
void live_io_next(struct mail *mail);
void live_io_stop(struct mail *mail);
/* Deliveries on the engine thread. */
void live_on_response(struct mail *mail);
void live_on_gone(struct mail *mail);
