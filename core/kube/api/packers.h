/* Packers: threads that pack objects for the streams of the I/O thread, and pools, the lanes, that they pack
 * into (docs/dev/adr/0018-packers.md). A stream deals its texts to the lanes, and takes the results in the
 * order of dealing. The I/O thread is one of the packers: while little comes it packs at the end of its turn,
 * so that no event waits for another thread to wake up, and it helps while a stream has too much under way.
 * Owner: the I/O thread; what may be called elsewhere says so. A lane is busy while one thread packs into it,
 * and nobody else uses its pool then; a text waits in its lane, or is being packed by who made it busy, or is
 * done. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "net/loop.h"
#include "object/pack/pack.h"

extern struct metric metric_packed_elsewhere;

/* PACKERS_MANY: texts of a lane for which a sleeping thread is woken; fewer are packed by the I/O thread. */
enum { PACKERS_MAX = 16, PACKERS_MANY = 32 };

struct packers;
struct pack_lane;

/* One text on its way. The stream sets what stands above the line when it deals it, and reads the root when
 * it is done. */
struct pack_job {
    struct str object;     /* what is to be packed, in `text` */
    struct pack_mark mark; /* for who packs it */
    int64_t received_us;
    unsigned type; /* the stream's own */
    /* --- */
    struct buf text;   /* with a line end behind its length, and TAPE_PADDING readable bytes */
    struct root *root; /* a reference; NULL: it could not be packed like this */
    const struct pack_queue *of;
    struct pack_lane *lane;
    _Atomic bool done;
    STAILQ_ENTRY(pack_job) next;    /* of its stream */
    STAILQ_ENTRY(pack_job) waiting; /* of its lane */
};

/* Texts that a stream has dealt, in order. Owner: the stream, which embeds it. */
struct pack_queue {
    struct packers *packers;
    /* Sets the root of a text. On any thread, one text of a lane at a time; what it reads of the stream must
     * not change while anything is under way. */
    void (*pack)(const struct pack_queue *queue, struct pack_job *job, struct packer *packer);
    void (*ready)(void *ctx); /* the first one is done; called from the loop */
    void *ctx;
    STAILQ_HEAD(, pack_job) queue;
    size_t count, bytes; /* that are under way */
    unsigned seen;       /* round in which it was looked at */
    TAILQ_ENTRY(pack_queue) link;
};

/* Makes that many lanes, with pools of these options. One thread fewer than lanes runs between start and
 * stop; without them packing goes on, on the I/O thread. */
struct packers *packers_new(struct loop *loop, unsigned count, const struct pool_options *options);
void packers_start(struct packers *packers);
void packers_stop(struct packers *packers);
/* After packers_stop, without streams; every object must have been released. NULL is allowed, here and below.
 */
void packers_free(struct packers *packers);
/* Frees what was released elsewhere, as pool_drain. */
void packers_drain(struct packers *packers);
unsigned packers_count(const struct packers *packers);
/* Texts that were dealt and not taken yet. */
size_t packers_under_way(const struct packers *packers);
/* Bytes of all live objects in their pools. Any thread. */
size_t packers_used_bytes(const struct packers *packers);
/* Returns the pool of a lane; while its packers are held, the caller may borrow it (pool.h). */
struct pool *packers_pool(const struct packers *packers, unsigned lane);
/* Keeps all packers where they use no pool, until they are let go. On one thread; the I/O thread must rest.
 */
void packers_hold(struct packers *packers);
void packers_let_go(struct packers *packers);

void pack_queue_init(struct pack_queue *queue, struct packers *packers);
/* Drops what is under way; waits for what is being packed. */
void pack_queue_clear(struct pack_queue *queue);
/* Returns one without a text, for the caller to complete and to deal. */
struct pack_job *pack_queue_make(struct pack_queue *queue);
/* Texts of one group go to one lane. Takes it. */
void pack_queue_deal(struct pack_queue *queue, struct pack_job *job, uint32_t group);
/* Returns whether so much is under way that the stream should wait. */
bool pack_queue_is_full(const struct pack_queue *queue);
/* Waits until the first one is done, and helps. */
void pack_queue_wait(struct pack_queue *queue);
/* Takes the first one if it is done; NULL: it is not, or there is none. End it by pack_job_free. */
struct pack_job *pack_queue_take(struct pack_queue *queue);
/* Its root is the caller's. */
void pack_job_free(struct pack_queue *queue, struct pack_job *job);
