/* Internals of the writer of reports, shared by its files: policy_writer.c has the schedule, policy_lists.c
 * lists the reports in the cluster, policy_namespace.c has the state of a namespace and writes its reports.
 * Owner: policy_writer.c. */
#pragma once
#include <sys/queue.h>

#include "audit/policy/policy_writer.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/time/token_bucket.h"
#include <uthash.h>

#define POLICY_NOT_ALL_EVALUATED "Not all objects have been evaluated yet"

/* A report as it is in the cluster. */
struct known_part {
    bool there, seen;
    char content[POLICY_CONTENT_SIZE]; /* "": not known */
};

/* A namespace, or the cluster. */
struct policy_namespace {
    UT_hash_handle hh;
    TAILQ_ENTRY(policy_namespace) link; /* of those that are to be written */
    char *ns;
    struct known_part *parts;
    size_t part_count;
    size_t under_way; /* writes, and the round */
    bool waits;       /* to be written */
    bool left_out;    /* for want of room */
    bool failed;      /* a write of the round under way */
    int64_t first_ms, changed_ms, not_before_ms, retry_ms;
};

/* A namespace that is being gathered, and then written, a document at a time. */
struct policy_pass {
    struct policy_namespace *space; /* NULL: none is */
    struct policy_parts *parts;
    bool gathered;
    bool unevaluated; /* rules are still to be evaluated on some of it */
    int64_t first_ms; /* of its namespace, when it began */
    size_t next;
    int64_t spent_ns;
};

struct policy_write_call {
    LIST_ENTRY(policy_write_call) link;
    struct policy_namespace *space;
    size_t part;
    bool deletes, is_new;
    char content[POLICY_CONTENT_SIZE];
};

/* Namespaces, or the cluster. */
struct policy_scope {
    bool listing, listed, logged;
    int64_t list_at_ms, retry_ms;
    struct err err; /* of the last list */
};

struct policy_writer {
    struct policy_writer_options options;
    char *name, *instance;
    struct policy_namespace *spaces;
    TAILQ_HEAD(policy_namespaces, policy_namespace) waiting;
    LIST_HEAD(policy_write_calls, policy_write_call) flights;
    size_t waiting_count, left_out_count, flight_count;
    size_t reports, coming; /* that are there; that are being made */
    struct policy_scope scopes[2];
    struct policy_pass round;
    struct timer tick;
    struct token_bucket rate;
    bool active, begun, full_logged, write_logged;
    bool is_late;   /* it has begun, and not all was evaluated */
    bool is_paused; /* rules wait for their caches, and not for long: nothing is written */
    int64_t active_ms;
    int64_t waiting_ms; /* since when rules wait; -1: none does */
    struct buf incomplete;
    struct err err; /* of the last write */
    uint64_t written, deleted, failed;
};

/* --- policy_namespace.c */

struct policy_namespace *policy_namespace_find(struct policy_writer *writer, struct str ns);
/* Like policy_namespace_find, but creates the namespace if it is missing. */
struct policy_namespace *policy_namespace_get(struct policy_writer *writer, struct str ns);
void policy_namespace_wait(struct policy_writer *writer, struct policy_namespace *space);
void policy_namespace_free(struct policy_writer *writer, struct policy_namespace *space);
/* Frees the namespace if nothing is left to know about it. */
void policy_namespace_tidy(struct policy_writer *writer, struct policy_namespace *space);
struct known_part *policy_namespace_part(struct policy_namespace *space, size_t part);
void policy_namespace_set_part(struct policy_writer *writer, struct known_part *part, bool there);
bool policy_namespace_is_due(const struct policy_writer *writer, const struct policy_namespace *space,
                             int64_t now_ms);
/* Begins to gather, and then to have written and deleted what is not as it should be. No other round is under
 * way. */
void policy_namespace_begin(struct policy_writer *writer, struct policy_namespace *space);
/* One slice, or one document more; false when there is nothing to go on with. */
bool policy_namespace_continue(struct policy_writer *writer);
/* Nothing more of the round is done. */
void policy_namespace_end(struct policy_writer *writer);

/* --- policy_lists.c */

/* Has listed what is due. */
void policy_list(struct policy_writer *writer, int64_t now_ms);

/* --- policy_writer.c */

/* A write of the namespace has ended, or its round. */
void policy_writer_settle(struct policy_writer *writer, struct policy_namespace *space);
