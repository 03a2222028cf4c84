/* One sink, for the files of this folder: sinks.c and sink_publish.c are the engine thread's, sink_writer.c
 * has the thread that stores events, sink_sender.c the one that delivers them, sink_http.c carries batches to
 * the engine thread and back, sink_settings.c copies settings for the sender. Fields are the engine thread's,
 * unless it says otherwise. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "base/series/series.h"
#include "base/spool/spool.h"
#include "engine/sink/sink_delivery.h"
#include "engine/sink/sinks.h"
#include "net/module_thread.h"

enum { SINK_ERROR_MAX = 256 };

/* A call of publish. Under the lock while it waits or is taken. */
struct sink_publish {
    TAILQ_ENTRY(sink_publish) link;
    struct sink *sink;
    struct timer timeout;
    struct buf record;
    sink_publish_done *done; /* NULL: the caller has gone */
    void *ctx;
    enum { PUBLISH_WAITS, PUBLISH_TAKEN, PUBLISH_STORED } state;
};
TAILQ_HEAD(sink_publishes, sink_publish);

/* Settings with copies of all texts. */
struct sink_settings {
    struct sink_config config;
    char **headers;
};

enum sink_counter { SINK_PUBLISHED, SINK_SENT, SINK_SET_ASIDE, SINK_LOST, SINK_COUNTERS };

/* A batch on its way to the engine thread; see sink_http.c. */
struct sink_http {
    struct mail start;
    bool is_posted, is_over; /* under the lock */
    struct web_call *call;
    /* Of the sender until it is posted, and once it is over. */
    const struct sink_config *config;
    struct buf body;
    struct buf ca; /* of a file; else the config has it */
    bool is_batch;
    int status;
    int64_t retry_after_ms;
    struct err err; /* without a response */
};

struct sinks_hub;

struct sink {
    LIST_ENTRY(sink) link;
    struct sinks_hub *hub;
    char *script, *name, *dir; /* constant */
    enum sink_scheme scheme;
    size_t claims;
    _Atomic size_t spool_max;
    bool is_used;              /* has had all of its settings */
    char *hold_reason;         /* why not, or why others are not known; NULL: none */
    bool has_threads, is_left; /* is_left: a library holds the sender up, for ever */
    volatile int stream_ends;  /* for modules: the sink ends */
    pthread_t writer;
    struct module_thread sender;
    struct series *counters[SINK_COUNTERS], *failures, *damaged, *events, *bytes;

    /* Of the two threads, which hold it while they wait for the disk: never the engine thread. */
    pthread_mutex_t disk;
    struct spool *spool; /* set under both locks; NULL: not open. With events it stays so */
    _Atomic uint64_t spool_events, spool_used;

    pthread_mutex_t lock;
    pthread_cond_t changed; /* of anything that a thread waits for; on the monotonic clock */
    /* Under the lock, as all that follows. */
    bool ends, fails;            /* `fails`: the last delivery did */
    uint64_t stores, deliveries; /* that changed the spool */
    struct sink_settings *next;  /* taken by the sender; NULL: no others */
    struct sink_publishes waiting, stored;
    size_t waiting_count;
    char error[SINK_ERROR_MAX];      /* of deliveries */
    char disk_error[SINK_ERROR_MAX]; /* of the spool; "": it works */
    struct sink_http http;
};

struct sinks_hub {
    struct sinks base;
    struct sinks_options options;
    LIST_HEAD(, sink) sinks;
    struct waker *waker;
};

/* --- sinks.c */

/* Waits for a change, at most so long; with the lock. */
void sink_wait(struct sink *sink, int64_t ms);
void sink_count(struct sink *sink, enum sink_counter counter, uint64_t count);
/* Shows how much the spool has; with the lock of the disk. */
void sink_show_spool(struct sink *sink);

/* --- sink_settings.c */

struct sink_settings *sink_settings_copy(const struct sink_config *config);
/* NULL is allowed. */
void sink_settings_free(struct sink_settings *settings);

/* --- sink_publish.c */

struct sink_publish *sink_publish_start(struct sink *sink, const struct sink_event *event, int64_t timeout_ms,
                                        sink_publish_done *done, void *ctx);
void sink_publish_cancel(struct sink_publish *publish);
void sink_publish_free(struct sink_publish *publish);
/* Ends calls whose events are stored. */
void sink_end_stored(struct sink *sink);

/* --- the threads */

void *sink_writer_run(void *sink);
void sink_sender_run(void *sink);

/* Reads what spool_append was given; false for anything else. */
void sink_put_record(struct buf *out, const struct sink_event *event);
bool sink_get_record(struct str record, struct sink_event *event);

/* After the loop has ended and the sender has. */
void sink_http_end(struct sink *sink);
