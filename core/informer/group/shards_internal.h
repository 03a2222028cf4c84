/* Internals shared by shards.c (the engine thread's half), shards_io.c (the I/O thread's), shards_source.c
 * (its requests) and shards_watch.c (the watch of the table); see shards.h. */
#pragma once
#include <pthread.h>

#include "base/err.h"
#include "informer/group/shards.h"
#include "informer/reflect/reflector.h"
#include "informer/shard/member.h"

/* News from one half to the other. */
struct shards_news {
    char lease[SHARD_NAME_MAX];
    struct slot_set given; /* by the table to this Lease, whether it lasts or not */
    struct fence *fence;   /* a reference; NULL: none */
    int64_t epoch;
    size_t members;
    bool writes, left;
    struct err err;
};

/* One of the two lines to the server. */
struct shards_line {
    struct shards *shards;
    enum shard_verb verb;
    char name[SHARD_NAME_MAX];
    struct object_call *call;  /* NULL: none in flight */
    struct list_watch *source; /* of a list in flight; NULL: none */
    struct lw_call *list;
    struct timer timeout;       /* of the list */
    struct timer free_source;   /* outside of its callbacks */
    struct list_watch *ended;   /* that `free_source` frees */
    struct shard_lease *leases; /* of the response, sorted at its end */
    size_t count;
    struct err refused; /* the first item of the list that cannot be read */
    struct buf table, version;
    int64_t alone_until_ms; /* until then requests use connections of their own */
    shard_done *done;
    void *done_ctx;
};

struct shards {
    struct shards_options options;
    char *namespace_, *group, *table_name, *prefix;
    struct shard_times times;

    struct mail start, leave, stop; /* to the I/O thread */

    /* Guarded by the lock. */
    pthread_mutex_t lock;
    pthread_cond_t stopped;
    struct shards_news posted;
    bool has_news, running;

    /* Used by the engine thread alone. */
    struct waker *waker;
    struct shards_news current;
    struct slot_set held; /* owned in this term of the Lease, without those that were given up */
    struct slot_set kept; /* see shards_get_status */
    struct fence *closed;
    bool started;
    void (*left)(void *ctx); /* NULL: nobody waits for it */
    void *left_ctx;

    /* Used by the I/O thread alone. */
    struct shard_member *member;
    struct shards_line lines[2];
    struct reflector *reflector; /* of the table */
    struct delta_fifo *fifo;
    struct prepare *ready;
    bool had_table; /* the last delta of the watch brought one */
};

void shards_news_clear(struct shards_news *news);

/* --- shards_io.c: deliveries on the I/O thread */

void shards_io_start(struct mail *mail);
void shards_io_leave(struct mail *mail);
void shards_io_stop(struct mail *mail);
void shards_io_applied(struct shards *shards, int64_t epoch);

/* --- shards_source.c */

extern const struct resource shards_leases, shards_maps;

void shards_line_init(struct shards *shards, struct shards_line *line);
void shards_line_clear(struct shards_line *line);
struct shard_source shards_source(struct shards *shards);
/* Returns the text of the table in its ConfigMap; `text` holds it. */
struct str shards_table_of(const struct root *map, struct text *text);

/* --- shards_lease.c */

void shards_lease_read(const struct root *lease, struct shard_lease *out);
void shards_lease_write(const struct shards *shards, const struct shard_lease *lease, struct buf *out);
void shards_table_write(const struct shards *shards, const struct shard_request *request, struct buf *out);
/* Of a delete of exactly that version. */
void shards_delete_write(const struct shard_lease *lease, struct buf *out);

/* --- shards_watch.c */

void shards_watch_start(struct shards *shards);
void shards_watch_stop(struct shards *shards);
