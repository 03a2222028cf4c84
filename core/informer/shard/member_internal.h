/* Internals shared by member.c (views and confirmation), pulse.c (the Lease), duty.c and duty_leases.c (the
 * table's writer); see member.h. */
#pragma once
#include "base/time/backoff.h"
#include "informer/shard/member.h"
#include "informer/shard/plan.h"

enum pulse_step { PULSE_IDLE, PULSE_CREATE, PULSE_UPDATE, PULSE_GET, PULSE_RELEASE, PULSE_OVER };

enum duty_step { DUTY_IDLE, DUTY_LOOK, DUTY_LIST, DUTY_DELETE, DUTY_GET_TABLE, DUTY_WRITE };

/* A Lease of the group as the writer of the table has seen it. */
struct observed_lease {
    struct shard_lease lease;
    int64_t since_ms; /* when this version was seen first, or when the Lease was missed first */
    bool missing;     /* the last list lacks it */
    bool unconfirmed; /* that list is older than the table that has its member */
    bool gone;        /* its member owns nothing any more */
};

struct duty {
    enum duty_step step;
    struct timer timer;
    int64_t sent_ms;
    struct observed_lease *observed; /* sorted by name */
    size_t count;
    size_t deleting; /* place of the Lease whose deletion is in flight */
    struct shard_table table;
    char version[SHARD_VERSION_MAX];   /* of the table; "": there is none */
    bool has_table;                    /* the two are as they were read or written last */
    int64_t barrier, barrier_since_ms; /* of the table, and when it was seen first */
    /* The first member's Lease, as one sees it that does not write. */
    struct shard_lease first;
    int64_t first_since_ms;
    bool suspects; /* the first member is gone */
    bool no_table;
    struct buf text;
};

struct shard_member {
    struct shard_member_options options;
    struct jitter jitter;
    char name[SHARD_NAME_MAX], version[SHARD_VERSION_MAX], uid[SHARD_UID_MAX];
    enum pulse_step step;
    struct timer pulse, expiry, overdue;
    int64_t sent_ms, sent_seen; /* of the request in flight */
    int64_t told;               /* epoch that its Lease shows */
    bool lease_exists, is_late, wants_pulse;
    bool was_held; /* the Lease of this name, also if its fence is gone */
    struct fence *fence;
    struct shard_view view;
    int64_t applied;
    bool leaves;
    struct err err;
    struct duty duty;
};

static inline int64_t member_now_ms(const struct shard_member *m)
{
    return clock_now_ms(m->options.clock);
}

static inline void member_notify(struct shard_member *m)
{
    m->options.changed(m->options.ctx);
}

/* Keeps an error until a try succeeds; logs the first one. */
void member_failed(struct shard_member *m, const struct err *err, const char *what);
void member_succeeded(struct shard_member *m);

/* --- pulse.c */
void pulse_start(struct shard_member *m);
/* Renews as soon as the line is free. */
void pulse_soon(struct shard_member *m);
void pulse_release(struct shard_member *m);
void pulse_clear(struct shard_member *m);

/* --- duty.c */
void duty_start(struct shard_member *m);
/* The table is another one now, or absent. */
void duty_on_table(struct shard_member *m, bool absent);
bool duty_is_mine(const struct shard_member *m);
void duty_send(struct shard_member *m, enum duty_step step, const struct shard_request *request);
void duty_next(struct shard_member *m, int64_t delay_ms);
/* Makes the next table and writes it, if it changed. */
void duty_plan(struct shard_member *m);
void duty_clear(struct shard_member *m);

/* --- duty_leases.c */
/* Takes a complete list of the group's Leases that was sent at `sent_ms`. */
void observe_leases(struct duty *d, const struct shard_lease *leases, size_t count, int64_t sent_ms,
                    int64_t now_ms);
/* Finds the next Lease from `*at` on that is to be deleted: released, or not renewed for its duration; false:
 * there is none. */
bool next_to_delete(const struct duty *d, size_t *at);
/* Takes the outcome of a deletion: the member is gone, or has renewed. */
void observe_deleted(struct duty *d, size_t at, bool deleted);
/* Adds members of the table that have no Lease, and marks as gone those that have had none for long. */
void observe_missing(struct duty *d, int64_t duration_ms, int64_t sent_ms, int64_t now_ms);
/* Returns what is known, sorted by name; the caller frees it. Names are borrowed. */
struct shard_fact *facts_of(const struct duty *d);
