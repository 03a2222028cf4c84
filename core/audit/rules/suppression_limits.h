/* Limits on what owners of objects may accept by annotations (suppression.h): those of who runs the audit,
 * and those of a rule's author (E-5). Without them, an owner could silence any rule for ever. Owner:
 * stateless. Any thread. */
#pragma once
#include "audit/rules/suppression.h"
#include "base/buf.h"
#include "script/rules/rule.h"

/* Limits of an audit; zero: none. */
struct suppression_limits {
    bool forbidden;             /* --no-ignore */
    bool has_max_severity;      /* --ignore-max-severity */
    enum severity max_severity; /* of rules whose findings may be accepted */
    int max_days;               /* --ignore-max-days; 0: unlimited */
};

/* Returns whether findings of the rule for an object of that namespace may be accepted as `said`, which is
 * valid. If not, appends the reason, "not accepted because of --no-ignore". `now_s` as in suppression_of. */
bool suppression_is_allowed(const struct suppression_limits *limits, const struct script_rule *rule,
                            struct str ns, const struct suppressed *said, int64_t now_s, struct buf *reason);
