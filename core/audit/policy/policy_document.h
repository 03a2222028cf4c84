/* Parts of policy reports as JSON: a result, a note about the report itself, and the document around them.
 * Two APIs have nearly the same form: wgpolicyk8s.io and openreports.io. Owner: everything is borrowed. On
 * any one thread. */
#pragma once
#include "audit/found/table.h"
#include "base/buf.h"

struct policy_api {
    const char *group, *version, *kind, *cluster_kind, *plural, *cluster_plural;
    const char *const *severities; /* names of our severities */
    bool filtered;                 /* can express that passes are only counted */
};
extern const struct policy_api policy_api_wgpolicy, policy_api_openreports;
/* Returns the API for `run --report`: "" and "policyreport" select wgpolicyk8s.io, "openreports" selects
 * openreports.io; NULL for "metrics" and NULL. */
const struct policy_api *policy_api_of(const char *report);

/* Name of the first part of a report; others are "kubelua-audit-2" and so on. A report is split because an
 * object must fit into the annotation in which `kubectl apply` records it. */
#define POLICY_REPORT_NAME "kubelua-audit"
enum {
    POLICY_REPORT_BYTES = 200 << 10,
    POLICY_MESSAGE_BYTES =
        4 << 10, /* limit of a message, a path and a value; longer ones are cut or omitted */
    POLICY_OVERHEAD_BYTES = 3 << 10, /* reserve for everything around the results */
};

/* Annotation with the reason why a report may lack results: no reader may take it for a clean one. */
#define POLICY_INCOMPLETE "kubelua/incomplete"
/* Annotation with a hash of the content without times: the writer compares it instead of the report. */
#define POLICY_CONTENT    "kubelua/content"

/* Returns whether the row has a result: passes, and skips without a message, have none. */
bool policy_has_result(const struct audit_row *row);
/* Appends a result. `time_s` 0: it has no time. */
void policy_put_result(const struct policy_api *api, const struct audit_rule *rule,
                       const struct audit_object *object, const struct audit_row *row, int64_t time_s,
                       struct buf *out);
/* Appends a result about the report itself, of `rule` of the policy "kubelua". */
void policy_put_note(const char *rule, enum verdict verdict, struct str message, int64_t time_s,
                     struct buf *out);
/* Appends the note of an incomplete audit. */
static inline void policy_put_incomplete(struct str why, int64_t time_s, struct buf *out)
{
    policy_put_note("incomplete", VERDICT_ERROR, why, time_s, out);
}

struct policy_head {
    struct str ns;          /* empty: cluster scope */
    const char *name;       /* of the first part */
    size_t part;            /* from 1 up */
    const char *instance;   /* keeps the report up to date; NULL: none */
    const char *content;    /* NULL: omitted */
    const char *incomplete; /* reason; NULL: complete */
    const size_t *counts;   /* [VERDICTS]: results, and passes, which are only counted */
};
/* Appends the name of a part. */
void policy_put_name(const char *name, size_t part, struct buf *out);
/* Appends the document; `results` are joined by commas. */
void policy_put_document(const struct policy_api *api, const struct policy_head *head, struct str results,
                         struct buf *out);
