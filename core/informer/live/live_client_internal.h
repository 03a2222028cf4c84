/* Internals shared by both halves of a live read: live_client.c is the engine's, live_client_io.c the I/O
 * thread's. Each field belongs to one of them; `out` belongs to the holder of the mail `response`. For these
 * files only. */
#pragma once
#include <pthread.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "informer/live/live_client.h"
#include "informer/live/pager.h"
#include "informer/live/retry_watcher.h"

/* Events that wait for their reader; with more the watch is paused. */
enum { LIVE_EVENTS_MAX = 256 };

/* Questions under way at once, watches apart: on a server without HTTP/2 each takes a connection. */
enum { LIVE_UNDER_WAY_MAX = 100 };

struct live_client {
    struct live_options options;
    LIST_HEAD(, live_read) reads; /* the engine's */
    uint64_t started;             /* the engine's, as the next two */
    unsigned under_way;
    TAILQ_HEAD(, live_read) queue; /* requests that wait until others have their responses */
    pthread_mutex_t lock;
    pthread_cond_t ended;
    size_t running; /* under the lock: reads that the I/O thread has not let go of */
};

struct live_read {
    struct live_client *live;
    /* Request; does not change. */
    struct object_request *request; /* NULL: a list or a watch, of which the rest is */
    enum live_verb verb;
    struct resource resource;
    char *namespace_, *label_selector, *field_selector, *version, *version_match;
    size_t limit, page_size;
    bool whole_if_expired;
    uint64_t seed;

    /* Questions to the I/O thread, answers to the engine thread. */
    struct mail start, next, stop, response, gone;

    /* The engine's. */
    LIST_ENTRY(live_read) link;
    void (*answered)(void *ctx, const struct live_response *response);
    object_done *done; /* instead, of a request */
    void *ctx;
    bool closed;
    bool counted;        /* its request is under way */
    struct mail *queued; /* its request, while that waits; NULL: it does not */
    TAILQ_ENTRY(live_read) queue_link;

    /* The I/O thread's. */
    struct object_call *call; /* of a request */
    struct pager *pager;
    struct retry_watcher *watcher;
    struct live_response filling; /* of a watch: what came since the last response */
    bool is_awaited;              /* the engine thread waits for a response */
    bool over;                    /* the watch told its error, in `err` */
    struct err err;

    /* Under way. */
    struct live_response out;
    struct object_response result; /* of a request */
    struct err out_err;
    struct buf out_version;
};

/* Deliveries on the I/O thread. */
void live_io_start(struct mail *mail);
void live_io_next(struct mail *mail);
void live_io_stop(struct mail *mail);
/* On the engine thread. */
void live_on_response(struct mail *mail);
void live_on_gone(struct mail *mail);
