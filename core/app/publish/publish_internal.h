/* Internals of a publisher: publisher.c is the loop's side, publish_writer.c the thread that writes,
 * publish_state.c what the bucket has, publish_record.c the texts that are no objects. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>
#include <uthash.h>

#include "app/publish/publisher.h"
#include "base/buf.h"
#include "base/series/series.h"
#include "informer/reflect/reflector.h"
#include "net/module_thread.h"

/* A key of the bucket. */
struct published {
    UT_hash_handle hh;
    TAILQ_ENTRY(published) link; /* among the marks, if it is deleted */
    char *version;
    uint64_t sequence; /* of its last message; 0: not known */
    int64_t deleted_ms;
    int64_t announced_ms; /* when readers were told that it will be forgotten; 0: they are not */
    unsigned round;       /* of the last list that had it */
    bool is_deleted;
    char key[];
};
TAILQ_HEAD(published_marks, published);

/* One kind; what follows `fifo` belongs to the writer's thread. */
struct publish_kind {
    STAILQ_ENTRY(publish_kind) link;
    struct publisher *publisher;
    struct resource resource;
    char *namespace_, *label_selector, *field_selector, *name;
    struct reflector *reflector; /* NULL before the start */
    struct delta_fifo *fifo;
    char *prefix; /* of its keys, with the last dot */
    struct published *keys;
    unsigned round;
    char *listed; /* version of its last list; "" before the first */
};

/* Messages that are to be written together. Texts are in `text`, at offsets until they are written. */
struct publish_batch {
    struct publish_item {
        struct published *entry; /* NULL: no object */
        const char *key;         /* constant */
        size_t value, value_size, version;
        const char *encoding; /* constant */
        bool is_deleted;
    } * items;
    size_t count, room;
    struct buf text;
};

struct publisher {
    struct publisher_options options;
    STAILQ_HEAD(, publish_kind) kinds;
    size_t kind_count;
    struct waker *leads; /* the thread has the lead, or has failed */
    bool has_started;
    struct module_thread thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Under the lock. */
    bool has_work, ends, has_failed;
    struct buf catalogue; /* text that is to be written */
    bool has_catalogue;
    struct err err;
    struct publisher_status status;
    /* Of any thread. */
    struct publisher_series {
        struct series *written, *deleted, *refused, *failures, *leads, *listed, *waiting;
    } series;
    /* Of the thread. */
    void *client;
    uint64_t last;              /* sequence of the bucket's last message */
    struct publish_kind others; /* keys of kinds that are not published any more */
    struct published_marks marks;
    struct publish_batch batch;
    struct buf key;
    uint64_t forgotten; /* sequence that readers were told */
    int64_t signed_ms, forgot_ms;
    bool is_dirty; /* the record has news */
    struct publisher_totals totals;
};

/* --- publish_record.c */

/* Appends the record that tells who publishes what. */
void publish_put_record(struct publisher *publisher, bool ends, struct buf *out);
/* Appends the catalogue as an APIGroupDiscoveryList. */
void publish_put_catalogue(const struct catalogue *catalogue, struct buf *out);
/* Return whether the record is that of this publisher, which has not ended; and that of another such one. */
bool publish_record_is_own(struct str record, const char *identity);
bool publish_record_is_foreign(struct str record, const char *identity);

/* --- publish_state.c, on the thread */

/* A key that the bucket has already. */
void publish_found(struct publisher *publisher, const struct bucket_message *message);
/* Adds what a delta changes to the batch; false: the thread ends. */
bool publish_delta(struct publish_kind *kind, const struct delta *delta);
/* Kinds that are not published any more; some stay if the publisher ends meanwhile. */
bool publish_delete_others(struct publisher *publisher);
/* The messages of the batch were written; `first` is the sequence of the first one. */
void publish_written(struct publisher *publisher, uint64_t first);
/* Forgets a mark of a deleted key. */
void publish_forget(struct publisher *publisher, struct published *mark);
void publish_clear_keys(struct publish_kind *kind);

/* --- publish_writer.c */

void publish_writer_run(void *publisher);
int64_t publish_now_ms(const struct publisher *publisher);
bool publish_has_ended(struct publisher *publisher);
/* Waits for a change, at most so long; with the lock. */
void publish_wait(struct publisher *publisher, int64_t ms);
/* Writes the batch if it is large, or in any case; again until it is done. Adds the record when one is due:
 * call it during all long work. False: the thread ends. */
bool publish_flush(struct publisher *publisher, bool in_any_case);
/* Adds a message to the batch: `value` was appended to its text. Returns it. */
struct publish_item *publish_add(struct publisher *publisher, struct published *entry, const char *key,
                                 struct str version, size_t value, bool is_deleted);
/* Encodes the end of the batch's text, from `value` on, if it exceeds the largest message. Returns its
 * encoding, "" if it fits as it is; NULL if it fits in none: then the text is as before. */
const char *publish_fit(struct publisher *publisher, size_t value);
/* Around each call of the module. */
static inline void publish_enter(struct publisher *publisher)
{
    module_thread_enter(&publisher->thread);
}
static inline void publish_return(struct publisher *publisher)
{
    module_thread_return(&publisher->thread);
}

/* --- publish_status.c */

void publish_open_series(struct publisher *publisher);
void publish_close_series(struct publisher *publisher);
/* The lead was asked for: `state` is what came of it. */
void publish_note_state(struct publisher *publisher, enum publisher_state state);
/* A try to write failed; NULL: one succeeded. */
void publish_note_failure(struct publisher *publisher, const char *text);
/* Shows which kinds are listed, and how many changes wait. */
void publish_note_work(struct publisher *publisher);

/* --- publish_marks.c, on the thread: marks of deleted keys that are forgotten */

/* Tells readers which marks will be forgotten, and forgets those that they were told of long ago. Call it now
 * and then. False: the thread ends. */
bool publish_forget_marks(struct publisher *publisher);
