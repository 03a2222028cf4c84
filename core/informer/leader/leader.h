/* One candidate of one election on a Lease: client-go's LeaderElector as a state machine on an injected clock
 * and an injected way to the server (contract L).
 * Owner: the I/O thread, so that no script can make it late. `changed` and `renewed` are called from it; they
 * may not free it.
 *
 * It leads until its lease could run out for others: a lease's duration after it *sent* the last renewal that
 * succeeded. The fence it hands out closes then, by itself, even when this thread is late. */
#pragma once
#include "base/clock.h"
#include "base/fence.h"
#include "informer/leader/lease.h"

struct err;
struct leader;

enum lease_verb { LEASE_GET, LEASE_CREATE, LEASE_UPDATE };

struct lease_source {
    /* Asks the server. `done` comes once, later, and takes a reference to the lease as it is now; NULL with
     * an error. One question at a time. `body` is borrowed for the call. */
    void (*send)(void *ctx, enum lease_verb verb, struct str body, int64_t timeout_ms,
                 void (*done)(void *ctx, struct root *lease, const struct err *err), void *done_ctx);
    /* No `done` comes for what was asked; the server may have done it all the same. */
    void (*cancel)(void *ctx);
    void *ctx;
};

struct leader_times {
    int64_t duration_ms; /* of the lease: whole seconds, as the Lease has them */
    int64_t renew_ms;    /* for one round of renewing, with all its tries */
    int64_t retry_ms;    /* between tries */
};

/* Defaults of client-go's programs: 15, 10 and 2 seconds (L-1). */
extern const struct leader_times leader_times_default;

/* Names that users know the times by: literals; NULL for words of ours. */
struct leader_names {
    const char *duration, *renew, *retry;
};

/* L-1, with an error that has the two by name and value. */
bool leader_times_check(const struct leader_times *times, const struct leader_names *names, struct err *err);

struct leader_options {
    const char *namespace_, *name; /* of the lease */
    const char *identity;
    struct leader_times times;
    struct lease_labels labels; /* borrowed as long as the leader lives, as are the texts above */
    struct lease_source source;
    struct clock *clock; /* fences ask it from every thread */
    uint64_t seed;
    void (*changed)(void *ctx); /* what leader_get_status tells */
    void (*renewed)(void *ctx); /* the same without news: the holder has renewed the lease */
    void *ctx;
};

struct leader_status {
    struct fence *fence; /* of this term, borrowed; NULL: it does not lead */
    const char *holder;  /* "" nobody, or nobody that is known */
    int64_t transitions;
    int64_t since_us;      /* wall time of the last change of `fence` or `holder` */
    int64_t renewed_ms;    /* when it last heard that it holds the lease, by the clock; 0: it does not lead */
    int64_t seen_ms;       /* when the last renewal of the holder was seen, whoever it is; 0: no holder */
    const struct err *err; /* of the last try; code ERR_NONE when it had none */
    bool released;         /* leader_release has come to its end */
};

struct leader *leader_new(const struct leader_options *options);
/* L-2: tries at once. */
void leader_start(struct leader *leader);
/* Leads no more, at once, and gives the lease back if it may hold it (L-8). `changed` tells of the end,
 * perhaps before this returns. */
void leader_release(struct leader *leader);
void leader_get_status(const struct leader *leader, struct leader_status *out);
void leader_free(struct leader *leader);
