/* A cluster whose reports are what a writer of reports sends, for the specs of core/audit/policy_*.c; pods
 * are source 0. Owner: the spec. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "audit/policy/policy_writer.h"
#include "base/buf.h"
#include "core/audit/support/live/live.h"

enum { SENT_MAX = 64 };

struct world {
    struct fixture f;
    struct policy_writer *writer;
    struct buf log;    /* "apply shop/kubelua-audit\n" */
    struct buf bodies; /* of all applies */
    struct policy_write_call *flights[SENT_MAX];
    size_t flight_count, applies, lists, largest;
    const char *waiting, *refused;
    bool cancelled;
};

/* What `own` says begins with that word. */
#define REPORTS_RULES(word)                                                         \
    HEAD "k8s.rule { id = 'own', kinds = { 'pods' }, check = function(o, r)\n"      \
         "  if o:label 'bad' then r:fail('" word " ' .. o:label 'bad') end end }\n" \
         "k8s.rule { id = 'grave', severity = 'critical', kinds = { 'pods' },\n"    \
         "  skip = function(o) return not o:label 'grave' end,\n"                   \
         "  check = function(o, r) r:fail 'grave' end }\n"

/* Two rules: `own` fails pods with a label `bad`, `grave` is critical and fails those with a label `grave`.
 * Slices of the writer are of four looks at the time. */
void reports_begin(struct world *w, struct cluster *c, const char *pods, size_t max_reports);
void reports_end(struct world *w);
/* What is in the cluster has been told, of namespaces and of the cluster; NULL: without an error. */
void reports_listed(struct world *w, const struct err *err);
/* Answers all writes under way. */
void reports_answer(struct world *w, const struct err *err);
/* Each write is answered at once. */
void reports_advance(struct world *w, int64_t ms);
void reports_change(struct world *w, enum lw_event_type type, const char *pod);
/* In what was written; forgets it. */
void reports_assert_says(struct world *w, const char *part);
/* How often it stands there. */
size_t reports_count(struct world *w, const char *part);

/* What was sent since the last time. */
#define assert_sent(w, text)                            \
    do {                                                \
        assert_string_equal(buf_text(&(w)->log), text); \
        (w)->log.len = 0;                               \
    } while (0)
