/* Parts of policy reports as JSON: a result, a note of ours, and the document around them. Two APIs have them
 * in nearly the same form: wgpolicyk8s.io and openreports.io. Owner: all is borrowed. On any one thread. */
#pragma once
#include "audit/found/table.h"
#include "base/buf.h"

struct policy_api {
    const char *group, *version, *kind, *cluster_kind, *plural, *cluster_plural;
    const char *const *severities; /* what it calls ours */
    bool filtered;                 /* it can say that passes are counted only */
};
extern const struct policy_api policy_api_wgpolicy, policy_api_openreports;
/* Returns the API of the reports that `run --report` writes: for "" and "policyreport" the first one, for
 * "openreports" the second; NULL for none: "metrics", and NULL. */
const struct policy_api *policy_api_of(const char *report);

/* A report is cut in parts, "kubelua-audit", "kubelua-audit-2" and so on, as an object may not be larger than
 * what `kubectl apply` notes in an annotation of it. */
#define POLICY_REPORT_NAME "kubelua-audit"
enum {
    POLICY_REPORT_BYTES = 200 << 10,
    POLICY_MESSAGE_BYTES = 4 << 10,  /* of a message, a path and a value: longer ones are cut, or left out */
    POLICY_OVERHEAD_BYTES = 3 << 10, /* room for what stands around the results */
};

/* Why there may be more to find than a report tells; no reader may take it for a clean one. */
#define POLICY_INCOMPLETE "kubelua/incomplete"
/* Of what is in it, without times: who wrote it knows by that whether it is still the same. */
#define POLICY_CONTENT    "kubelua/content"

/* Passes, and skips without a message, have no result. */
bool policy_has_result(const struct audit_row *row);
/* Appends a result. `time_s` 0: it has no time. */
void policy_put_result(const struct policy_api *api, const struct audit_rule *rule,
                       const struct audit_object *object, const struct audit_row *row, int64_t time_s,
                       struct buf *out);
/* Appends a result that tells of the report itself: by which `rule` of the policy "kubelua". */
void policy_put_note(const char *rule, enum verdict verdict, struct str message, int64_t time_s,
                     struct buf *out);
/* The note of an audit that is not whole. */
static inline void policy_put_incomplete(struct str why, int64_t time_s, struct buf *out)
{
    policy_put_note("incomplete", VERDICT_ERROR, why, time_s, out);
}

struct policy_head {
    struct str ns;          /* empty: of the cluster */
    const char *name;       /* of the first part */
    size_t part;            /* from 1 up */
    const char *instance;   /* who keeps it up to date; NULL: nobody */
    const char *content;    /* NULL: not reported */
    const char *incomplete; /* why; NULL: it is whole */
    const size_t *counts;   /* [VERDICTS]: of its results, but for passes, which are only counted */
};
/* Appends the name of a part. */
void policy_put_name(const char *name, size_t part, struct buf *out);
/* Appends the document; `results` are joined by commas. */
void policy_put_document(const struct policy_api *api, const struct policy_head *head, struct str results,
                         struct buf *out);
