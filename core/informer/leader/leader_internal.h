/* Internals shared by leader.c (tries), leader_term.c (terms) and leader_end.c (the lease released); see
 * leader.h. */
#pragma once
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/series/series.h"
#include "base/time/backoff.h"
#include "informer/leader/leader.h"

enum leader_step {
    STEP_IDLE,  /* a timer runs, or nothing does */
    STEP_RENEW, /* the fast path: written without a look */
    STEP_GET,
    STEP_TAKE,       /* written after a look */
    STEP_GET_TO_END, /* the last two, of a release */
    STEP_END,
    STEP_OVER,
};

struct leader {
    struct leader_options options;
    struct jitter jitter;
    enum leader_step step;
    struct timer next;     /* the next try */
    struct timer deadline; /* leadership ends, unless it is renewed before */
    int64_t round_ms;      /* when the round of renewing began; 0: none is under way */
    int64_t tried_ms, sent_ms;
    struct lease_record observed;
    int64_t observed_ms;
    struct root *lease; /* as the server showed it last, a reference; NULL: it has none, or nobody looked */
    struct fence *fence;
    int64_t until_ms; /* where the fence ends */
    int64_t since_us, renewed_ms;
    bool may_hold; /* a write may have made it the holder */
    struct err err;
    struct buf body;
    struct series *leads, *slow;
};

void leader_send(struct leader *l, enum leader_step step, enum lease_verb verb);
/* Into `body`, as what follows what is known. */
void leader_write_record(struct leader *l, const struct lease_record *record);
/* Nothing that was asked is answered any more. */
void leader_cancel_request(struct leader *l);
void leader_start_timer(struct leader *l, struct timer *timer, int64_t at_ms);

static inline int64_t leader_now_ms(const struct leader *l)
{
    return clock_now_ms(l->options.clock);
}

static inline bool leader_is_me(const struct leader *l, const struct lease_record *record)
{
    return record->holder && strcmp(record->holder, l->options.identity) == 0;
}

/* --- leader_term.c */

/* Something that the status shows changed; fence or holder did. */
void leader_notify(struct leader *l);
void leader_notify_change(struct leader *l);
/* A term begins. */
void leader_win(struct leader *l, int64_t until_ms);
/* The lease is not the candidate's any more, and the fence is closed; the second with a word about it. */
void leader_end_term(struct leader *l);
void leader_lose(struct leader *l, const char *why);
/* Takes the lease: it is what is known from now on. */
void leader_observe(struct leader *l, struct root *lease);
/* The same of an answer to a candidate: it leads no more if it is not the holder; returns whether it is. */
bool leader_sees(struct leader *l, struct root *lease);
/* There is no lease. */
void leader_sees_none(struct leader *l);

/* --- leader_end.c */

void leader_on_end_response(struct leader *l, struct root *lease, const struct err *err);

/* --- The Event that an election leaves on its Lease (L-10): "web-0_1f became leader".
 * Owner: nothing is kept. May be used anywhere. */

/* Appends the JSON text of a core/v1 Event about the lease `ns`/`name`; `what` is "became leader" or "stopped
 * leading". */
void leader_event_write(const char *ns, const char *name, const char *identity, const char *what,
                        int64_t wall_us, struct buf *out);
