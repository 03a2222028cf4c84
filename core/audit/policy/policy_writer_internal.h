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

/* Known state of a report in the cluster. */
struct known_part {
    bool there, seen;
    char content[POLICY_CONTENT_SIZE]; /* "": not known */
};

/* State of a namespace, or of the cluster scope. */
struct policy_namespace {
    UT_hash_handle hh;
    TAILQ_ENTRY(policy_namespace) link; /* among those to be written */
    char *ns;
    struct known_part *parts;
    size_t part_count;
    size_t under_way; /* writes, and the pass */
    bool waits;       /* to be written */
    bool left_out;    /* no room for more reports */
    bool failed;      /* a write of the current pass failed */
    int64_t first_ms, changed_ms, not_before_ms, retry_ms;
};

/* Pass: the namespace that is gathered and then written, one document at a time. */
struct policy_pass {
    struct policy_namespace *space; /* NULL: no pass */
    struct policy_parts *parts;
    bool gathered;
    bool unevaluated; /* some results are not evaluated yet */
    int64_t first_ms; /* first_ms of the namespace at the start */
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

/* Scope of lists: all namespaces, or the cluster. */
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
    size_t reports, coming; /* `reports` exist; `coming` are being created */
    struct policy_scope scopes[2];
    struct policy_pass round;
    struct timer tick;
    struct token_bucket rate;
    bool active, begun, full_logged, write_logged;
    bool is_late;   /* begun with results missing */
    bool is_paused; /* rules wait for their caches, but not for long: writes are held back */
    int64_t active_ms;
    int64_t waiting_ms; /* start of that wait; -1: none */
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
/* Starts a pass: gathers the namespace, then writes and deletes reports that differ. Only one pass runs at a
 * time. */
void policy_namespace_begin(struct policy_writer *writer, struct policy_namespace *space);
/* Continues with a slice or a document; false when there is nothing to do. */
bool policy_namespace_continue(struct policy_writer *writer);
/* Ends the pass. */
void policy_namespace_end(struct policy_writer *writer);

/* --- policy_lists.c */

/* Starts the lists that are due. */
void policy_list(struct policy_writer *writer, int64_t now_ms);

/* --- policy_writer.c */

/* Called when a write of the namespace, or its pass, has ended. */
void policy_writer_settle(struct policy_writer *writer, struct policy_namespace *space);
