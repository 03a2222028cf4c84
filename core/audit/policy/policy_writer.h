/* Reports of policies in the cluster, kept as continuous audits go on: which of them have to be written or
 * deleted, and when. What is written is known by the text of its content, which stands in an annotation, so
 * that one list at the start is enough to know what an earlier process has left; nothing is read for a
 * change.
 *
 * A namespace whose results change is written once it has been quiet for a moment, and at the latest some
 * time after the first change; then it is left alone for a while. Nothing is written before all rules have
 * been asked about everything once, or that takes too long: then reports say that they are not whole. Later
 * on the same holds of each namespace: one about which rules are still to be asked, after a reload or as a
 * kind has come, waits until they have been, at most POLICY_LATEST_MS since its first change, and is then
 * written with a word about it; nothing of it is deleted.
 *
 * What there is to say of a namespace is gathered in slices of about a millisecond, and written a document at
 * a time, with other things between.
 * Owner: the engine, on its thread, which frees it before the audit. Callbacks may not call back, but for
 * what answers them, later.
 */
#pragma once
#include "audit/policy/policy_parts.h"
#include "base/clock.h"
#include "base/err.h"

enum {
    POLICY_QUIET_MS = 3000,     /* without a change, before a namespace is written */
    POLICY_LATEST_MS = 30000,   /* after the first change that is not written */
    POLICY_COOLDOWN_MS = 10000, /* from one time that a namespace is written to the next */
    POLICY_WAIT_MS = 60000,     /* that rules may wait for their caches, before reports say so */
    POLICY_BEGIN_MS = 600000,   /* after which reports are written that are not whole yet */
    POLICY_RETRY_MS = 5000,     /* after a write that failed; doubled from time to time */
    POLICY_RETRY_MAX_MS = 300000,
    POLICY_LIST_MS = 3600000,     /* between looks at what is in the cluster */
    POLICY_LIST_RETRY_MS = 15000, /* when such a look fails; doubled, up to POLICY_RETRY_MAX_MS */
    POLICY_RATE = 20,             /* writes in a second, */
    POLICY_BURST = 50,            /* after a rest so many at once */
    POLICY_REPORTS_MAX = 5000,    /* in the cluster */
};

struct policy_writer;
struct policy_write_call; /* a write under way */

struct policy_write {
    const char *ns;   /* "": of the cluster */
    const char *name; /* of the report */
    struct str body;  /* to be applied; `p` NULL: it is to be deleted */
};

/* Further state of the audit that reports mention. */
struct policy_outlook {
    size_t pending;         /* objects that wait to be evaluated */
    const char *waiting;    /* rules whose caches are not there, by their names; "" for none */
    const char *refused;    /* kinds of which objects are refused, by their names; "" for none */
    bool findings_left_out; /* not all findings had room */
};

struct policy_writer_options {
    struct clock *clock;
    const struct policy_api *api;
    const char *name, *instance; /* of reports; see struct policy_head; copied */
    size_t max_reports;
    bool cluster_when_needed; /* the reports of the cluster are looked for when there is something to say */
    /* Begins a walk over what is said of a namespace; the writer frees it. */
    struct continuous_walk *(*walk)(void *ctx, struct str ns);
    void (*observe)(void *ctx, struct policy_outlook *out);
    /* Has the reports in the cluster listed: policy_writer_found for each of ours, then policy_writer_listed.
     */
    void (*list)(void *ctx, bool of_cluster);
    /* Has it sent: policy_writer_wrote follows. Texts are borrowed for the call. */
    void (*write)(void *ctx, const struct policy_write *write, struct policy_write_call *flight);
    /* Ends all lists and writes under way: nothing follows for them. */
    void (*cancel)(void *ctx);
    void *ctx;
    int64_t (*now_ns)(void); /* how long slices take is measured by; NULL: clock_measure_ns */
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
    bool active, begun; /* `begun`: all was evaluated once, so that reports are written */
    size_t reports;     /* in the cluster, as far as is known */
    size_t waiting;     /* namespaces that are to be written */
    size_t left_out;    /* of them, those that have no room under max_reports */
    size_t under_way;
    uint64_t written, deleted, failed;
    const char *incomplete; /* why reports are not whole; "" when they are */
    const char *error;      /* why reports are not written; "" when they are */
};
struct policy_writer_status policy_writer_status(const struct policy_writer *writer);
