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
    STEP_IDLE,  /* no request in flight */
    STEP_RENEW, /* fast path: writes without reading first */
    STEP_GET,
    STEP_TAKE,       /* writes after reading */
    STEP_GET_TO_END, /* this and the next are steps of a release */
    STEP_END,
    STEP_OVER,
};

struct leader {
    struct leader_options options;
    struct jitter jitter;
    enum leader_step step;
    struct timer next;     /* the next try */
    struct timer deadline; /* end of leadership unless it is renewed before */
    int64_t round_ms;      /* start of the round of renewal; 0: no round */
    int64_t tried_ms, sent_ms;
    struct lease_record observed;
    int64_t observed_ms;
    struct root *lease; /* last seen, a reference; NULL: it does not exist, or was not read yet */
    struct fence *fence;
    int64_t until_ms; /* end of the fence */
    int64_t since_us, renewed_ms;
    bool may_hold; /* a write may have made this candidate the holder */
    struct err err;
    struct buf body;
    struct series *leads, *slow;
};

void leader_send(struct leader *l, enum leader_step step, enum lease_verb verb);
/* Writes the record into `body`, based on the last lease seen. */
void leader_write_record(struct leader *l, const struct lease_record *record);
/* Cancels the request in flight, if any. */
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

/* Report a change of the status; the second one a change of fence or holder, which sets the time. */
void leader_notify(struct leader *l);
void leader_notify_change(struct leader *l);
/* Begins a term. */
void leader_win(struct leader *l, int64_t until_ms);
/* End the term and close its fence; the second one logs the reason. */
void leader_end_term(struct leader *l);
void leader_lose(struct leader *l, const char *why);
/* Takes the lease as the last one seen. */
void leader_observe(struct leader *l, struct root *lease);
/* Likewise for the response to a try: ends the term if this candidate is not the holder. Returns whether it
 * is. */
bool leader_sees(struct leader *l, struct root *lease);
/* Records that the lease does not exist. */
void leader_sees_none(struct leader *l);

/* --- leader_end.c */

void leader_on_end_response(struct leader *l, struct root *lease, const struct err *err);

/* --- Event that an election records on its Lease (L-10): "web-0_1f became leader". Owner: stateless. May be
 * used anywhere. */

/* Appends a core/v1 Event about the lease `ns`/`name` as JSON; `what` is "became leader" or "stopped
 * leading". */
void leader_event_write(const char *ns, const char *name, const char *identity, const char *what,
                        int64_t wall_us, struct buf *out);
