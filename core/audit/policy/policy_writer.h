/* Writer of policy reports: decides which reports are written or deleted, and when, as continuous audits go
 * on. An annotation holds the hash of a report's content, so that one list at the start finds what an earlier
 * process left, and changes need no reads.
 *
 * A namespace is written once its results have been quiet for a moment, or some time after the first change;
 * then it is left alone for a while. Nothing is written before all rules have been evaluated once; if that
 * takes too long, reports are marked incomplete. Later the same holds for each namespace: one with rules to
 * evaluate, after a reload or when a kind has come, waits at most POLICY_LATEST_MS since its first change,
 * and is then written as incomplete, without deleting anything.
 *
 * A namespace is gathered in slices of about a millisecond, and written one document at a time. Owner: the
 * engine, on its thread, which frees it before the audit. Callbacks may not call back; their results come
 * later. */
#pragma once
#include "audit/policy/policy_parts.h"
#include "base/clock.h"
#include "base/err.h"

enum {
    POLICY_QUIET_MS = 3000,     /* without a change before a namespace is written */
    POLICY_LATEST_MS = 30000,   /* after the first change that is not written */
    POLICY_COOLDOWN_MS = 10000, /* between two writes of a namespace */
    POLICY_WAIT_MS = 60000,     /* for rules that wait for caches, before reports say so */
    POLICY_BEGIN_MS = 600000,   /* after the start, before incomplete reports are written */
    POLICY_RETRY_MS = 5000,     /* after a failed write; doubled with each */
    POLICY_RETRY_MAX_MS = 300000,
    POLICY_LIST_MS = 3600000,     /* between lists of the cluster's reports */
    POLICY_LIST_RETRY_MS = 15000, /* after a failed list; doubled, up to POLICY_RETRY_MAX_MS */
    POLICY_RATE = 20,             /* writes per second */
    POLICY_BURST = 50,            /* writes at once after a pause */
    POLICY_REPORTS_MAX = 5000,    /* in the cluster */
};

struct policy_writer;
struct policy_write_call; /* a write in flight */

struct policy_write {
    const char *ns;   /* "": cluster scope */
    const char *name; /* of the report */
    struct str body;  /* to apply; `p` NULL: delete */
};

/* State of the audit that reports mention. */
struct policy_outlook {
    size_t pending;         /* objects queued for evaluation */
    const char *waiting;    /* rules that wait for their caches, by name; "" for none */
    const char *refused;    /* kinds with refused objects, by name; "" for none */
    bool findings_left_out; /* some findings had no room */
};

struct policy_writer_options {
    struct clock *clock;
    const struct policy_api *api;
    const char *name, *instance; /* of reports; see struct policy_head; copied */
    size_t max_reports;
    bool cluster_when_needed; /* lists cluster-scoped reports only once there is something to report */
    /* Starts a walk over the results of a namespace; the writer frees it. */
    struct continuous_walk *(*walk)(void *ctx, struct str ns);
    void (*observe)(void *ctx, struct policy_outlook *out);
    /* Lists our reports in the cluster: policy_writer_found for each, then policy_writer_listed. */
    void (*list)(void *ctx, bool of_cluster);
    /* Sends the write; policy_writer_wrote follows. Strings are borrowed for the call. */
    void (*write)(void *ctx, const struct policy_write *write, struct policy_write_call *flight);
    /* Cancels all lists and writes in flight: no callback follows for them. */
    void (*cancel)(void *ctx);
    void *ctx;
    int64_t (*now_ns)(void); /* measures slices; NULL: clock_thread_ns */
};

struct policy_writer *policy_writer_new(const struct policy_writer_options *options);
/* NULL is allowed. */
void policy_writer_free(struct policy_writer *writer);
/* Activates or deactivates the writer, which starts inactive. Activation relists the reports: another
 * process may have written some. */
void policy_writer_set_active(struct policy_writer *writer, bool active);
/* Notes that results of that namespace have changed. */
void policy_writer_changed(struct policy_writer *writer, struct str ns);

void policy_writer_found(struct policy_writer *writer, struct str ns, struct str name, struct str content);
void policy_writer_listed(struct policy_writer *writer, bool of_cluster, const struct err *err);
void policy_writer_wrote(struct policy_writer *writer, struct policy_write_call *flight,
                         const struct err *err);

struct policy_writer_status {
    bool active, begun; /* `begun`: everything was evaluated once, so reports are written */
    size_t reports;     /* known in the cluster */
    size_t waiting;     /* namespaces to be written */
    size_t left_out;    /* of these, without room under max_reports */
    size_t under_way;
    uint64_t written, deleted, failed;
    const char *incomplete; /* reason why reports are incomplete; "" if complete */
    const char *error;      /* reason why reports are not written; "" if none */
};
struct policy_writer_status policy_writer_status(const struct policy_writer *writer);
