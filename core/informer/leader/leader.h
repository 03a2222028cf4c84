/* One candidate of one election on a Lease: client-go's LeaderElector as a state machine with an injected
 * clock and an injected way to the server (contract L). Owner: the I/O thread, so that no script can delay
 * it. `changed` and `renewed` are called on it; they must not free it. It leads until its lease could expire
 * for others: a lease's duration after it *sent* the last renewal that succeeded. Its fence closes then by
 * itself, even if this thread is late. */
#pragma once
#include "base/clock.h"
#include "base/fence.h"
#include "informer/leader/lease.h"

struct err;
struct leader;

enum lease_verb { LEASE_GET, LEASE_CREATE, LEASE_UPDATE };

struct lease_source {
    /* Sends a request, one at a time. `done` is called once, later, and takes a reference to the lease as it
     * is now, or NULL with an error. `body` is borrowed for the call. */
    void (*send)(void *ctx, enum lease_verb verb, struct str body, int64_t timeout_ms,
                 void (*done)(void *ctx, struct root *lease, const struct err *err), void *done_ctx);
    /* Cancels the request: `done` is not called. The server may have executed it. */
    void (*cancel)(void *ctx);
    void *ctx;
};

struct leader_times {
    int64_t duration_ms; /* of the lease: whole seconds, as the Lease has them */
    int64_t renew_ms;    /* of one round of renewal, with all its tries */
    int64_t retry_ms;    /* between tries */
};

/* Defaults of client-go's programs: 15, 10 and 2 seconds (L-1). */
extern const struct leader_times leader_times_default;

/* Names under which users know the times: literals; NULL for the defaults. */
struct leader_names {
    const char *duration, *renew, *retry;
};

/* Returns whether the times fit together; sets an error with the names and values of two that do not (L-1).
 */
bool leader_times_check(const struct leader_times *times, const struct leader_names *names, struct err *err);

struct leader_options {
    const char *namespace_, *name; /* of the lease */
    const char *identity;
    struct leader_times times;
    struct lease_labels labels; /* borrowed for the life of the leader, as are the strings above */
    struct lease_source source;
    struct clock *clock; /* read by fences on every thread */
    uint64_t seed;
    void (*changed)(void *ctx); /* the status changed */
    void (*renewed)(void *ctx); /* the holder renewed the lease, without another change */
    void *ctx;
};

struct leader_status {
    struct fence *fence; /* of this term, borrowed; NULL if it does not lead */
    const char *holder;  /* "" if there is none or none is known */
    int64_t transitions;
    int64_t since_us;   /* wall time of the last change of `fence` or `holder` */
    int64_t renewed_ms; /* time, by the clock, of the last response that it holds the lease; 0 if it does not
                           lead */
    int64_t seen_ms;    /* time at which the last renewal of any holder was seen; 0 without a holder */
    const struct err *err; /* of the last try; ERR_NONE if it succeeded */
    bool released;         /* leader_release has finished */
};

struct leader *leader_new(const struct leader_options *options);
/* Starts with an immediate try (L-2). */
void leader_start(struct leader *leader);
/* Stops leading immediately, and releases the lease if it may hold it (L-8). `changed` reports the end,
 * possibly before this returns. */
void leader_release(struct leader *leader);
void leader_get_status(const struct leader *leader, struct leader_status *out);
void leader_free(struct leader *leader);
