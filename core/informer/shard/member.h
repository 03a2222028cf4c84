/* One replica of a sharded group: it keeps its Lease, reads the table, and owns the slots that the table
 * gives it while its Lease lasts by its own clock. The first member of the table, or whoever finds that one
 * gone, also writes it (duty.h). A state machine with an injected clock and an injected way to the server.
 * Owner: the I/O thread, so that no script delays a renewal; `changed` is called on it, and must not free it.
 * Its fence closes by itself a Lease's duration after the last renewal that succeeded was *sent*. */
#pragma once
#include "base/clock.h"
#include "base/fence.h"
#include "informer/shard/table.h"

enum { SHARD_VERSION_MAX = 64, SHARD_UID_MAX = 40 };

/* A Lease as members need it. */
struct shard_lease {
    char name[SHARD_NAME_MAX];
    char version[SHARD_VERSION_MAX]; /* resourceVersion; in a request: the one that must be there */
    char uid[SHARD_UID_MAX];         /* likewise: a server creates a Lease that is gone anew otherwise */
    int64_t duration_ms;
    int64_t seen;  /* epoch of the table that the member has applied */
    bool released; /* the member has ended, and owns nothing */
};

enum shard_verb {
    SHARD_LEASE_GET,
    SHARD_LEASE_CREATE,
    SHARD_LEASE_UPDATE,
    SHARD_LEASE_DELETE, /* of exactly that version */
    SHARD_LEASES_LIST,  /* of the group, as they are now: not from a cache of the server */
    SHARD_TABLE_GET,
    SHARD_TABLE_CREATE,
    SHARD_TABLE_UPDATE, /* of exactly `version` */
};

struct shard_request {
    enum shard_verb verb;
    struct shard_lease lease; /* the name alone, to get it */
    struct str table;
    const char *version;
    int64_t timeout_ms;
};

struct shard_response {
    const struct err *err; /* NULL: it succeeded */
    /* Leases sorted by name, or the one as it is now. */
    const struct shard_lease *leases;
    size_t count;
    struct str table;
    const char *version; /* of the table */
};

/* Each replica has two lines to the server, so that a slow duty delays no renewal. */
enum shard_line { SHARD_LINE_PULSE, SHARD_LINE_DUTY };

typedef void shard_done(void *ctx, const struct shard_response *response);

struct shard_source {
    /* Sends one request at a time on a line. `done` is called once, later; the response is borrowed. */
    void (*send)(void *ctx, enum shard_line line, const struct shard_request *request, shard_done *done,
                 void *done_ctx);
    /* Cancels the request: `done` is not called. The server may have executed it. */
    void (*cancel)(void *ctx, enum shard_line line);
    void *ctx;
};

struct shard_times {
    int64_t duration_ms; /* of a Lease: whole seconds */
    int64_t renew_ms;    /* between renewals */
    int64_t retry_ms;    /* after a failure */
    int64_t poll_ms;     /* between two looks of the writer of the table at the Leases */
    int64_t drain_ms;    /* in which slots that are lost must be drained, or the Lease is given up */
};

/* 15 s, 5 s, 1 s, 2 s, 10 s. */
extern const struct shard_times shard_times_default;
/* Returns times in proportion to these for another duration of the Lease. */
struct shard_times shard_times_of(int64_t duration_ms);
/* Sets an error unless renewals have time for a second try before the Lease ends. */
bool shard_times_check(const struct shard_times *times, struct err *err);
/* Longest time between two owners of a slot, when one is handed over by a replica that lives, and when a
 * replica dies while the server responds: the sums that docs/dev/adr/0011-shards.md explains. */
int64_t shard_times_handover_ms(const struct shard_times *times);
int64_t shard_times_failover_ms(const struct shard_times *times);

struct shard_member_options {
    const char *prefix; /* of its names, such as the pod's name; borrowed */
    struct shard_times times;
    struct shard_source source;
    struct clock *clock; /* read by fences on every thread */
    uint64_t seed;
    void (*changed)(void *ctx); /* the status changed */
    void *ctx;
};

struct shard_status {
    const char *name;              /* of its Lease; another one after a Lease is lost. "" before the first */
    const struct shard_view *view; /* of the newest table; epoch 0: none was read */
    struct fence *fence;           /* borrowed; NULL: it has no Lease, so it owns nothing */
    bool writes;                   /* it is the one that writes the table */
    bool left;                     /* shard_member_leave has finished */
    const struct err *err;         /* of the last try; ERR_NONE if it succeeded */
};

struct shard_member;

struct shard_member *shard_member_new(const struct shard_member_options *options);
void shard_member_start(struct shard_member *member);
/* Passes the table as a watch delivers it; an empty text: there is none. Borrowed. */
void shard_member_table(struct shard_member *member, struct str text);
/* Tells that nothing runs any more for slots that the view of this epoch does not give. */
void shard_member_applied(struct shard_member *member, int64_t epoch);
/* Releases the Lease. Call when nothing runs any more for any slot. */
void shard_member_leave(struct shard_member *member);
void shard_member_get_status(const struct shard_member *member, struct shard_status *out);
void shard_member_free(struct shard_member *member);
