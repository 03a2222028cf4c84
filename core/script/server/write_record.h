/* Record of a write and its outcome, for the write log and for kubelua_writes_total.
 * Owner: the wait that embeds it. On the engine thread; nothing here raises. */
#pragma once
#include "kube/api/object_call.h"
#include "script/vm/state.h"

struct write_record {
    int64_t begun_us;
    const char *script, *hash;           /* the script's name, and of its text; borrowed */
    struct buf caller, trigger;          /* "pods/1", "OnAdd shop/web" */
    struct object_request *request;      /* a copy, without its body */
    const struct cluster_parts *cluster; /* that it goes to; held by the wait */
    bool is_recorded;                    /* --dry-run=client: it is not sent */
};

/* Inside the call that writes. */
void write_record_begin(struct write_record *record, struct script *script,
                        const struct cluster_parts *cluster, const struct object_request *request);
/* Has the text of a response to the write of a Secret, or its like, say nothing but the reason, and its
 * causes nothing but reasons and fields. */
void write_record_veil(const struct write_record *record, struct err *err);
/* Its end, in the task that wrote. The response's object is the one that the server has now; it stays the
 * caller's. */
void write_record_end(struct write_record *record, struct task *task, const struct object_response *response);
/* Series of one script, one for each verb, resource and code that came up. */
void write_counters_clear(struct script_writes *writes);
