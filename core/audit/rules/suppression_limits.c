/* Limits on accepted findings; see suppression_limits.h. */
#include "audit/rules/suppression_limits.h"

#include "base/civil.h"

static bool refuses_severity(const struct suppression_limits *limits, const struct script_rule *rule)
{
    return limits->has_max_severity && rule->severity > limits->max_severity;
}

/* Returns whether a day is given, and near enough. */
static bool is_within(int max_days, const struct suppressed *said, int64_t now_s)
{
    return max_days == 0 || (said->until.n && said->day - floor_div(now_s, DAY_S) <= max_days);
}

static void put_beyond(struct buf *reason, const struct suppressed *said, int max_days, bool is_of_rule)
{
    if (said->until.n)
        buf_printf(reason, "not accepted until %.*s, as ", STR_ARG(said->until));
    else
        buf_puts(reason, "not accepted without until=, which ");
    if (is_of_rule)
        buf_printf(reason,
                   said->until.n ? "the rule has ignore.max_days = %d"
                                 : "the rule requires (ignore.max_days = %d)",
                   max_days);
    else
        buf_printf(reason, said->until.n ? "--ignore-max-days is %d" : "--ignore-max-days %d requires",
                   max_days);
}

bool suppression_is_allowed(const struct suppression_limits *limits, const struct script_rule *rule,
                            struct str ns, const struct suppressed *said, int64_t now_s, struct buf *reason)
{
    if (limits->forbidden) {
        buf_puts(reason, "not accepted because of --no-ignore");
    } else if (rule->ignore.forbidden) {
        buf_puts(reason, "not accepted because the rule has ignore = false");
    } else if (refuses_severity(limits, rule)) {
        buf_printf(reason, "not accepted because the severity %s is above --ignore-max-severity %s",
                   severity_name(rule->severity), severity_name(limits->max_severity));
    } else if (!rule_may_be_ignored_in(rule, ns)) {
        buf_puts(reason, "not accepted because the rule's ignore.namespaces exclude ");
        buf_str(reason, ns.n ? ns : STR("objects without a namespace"));
    } else if (!is_within(limits->max_days, said, now_s)) {
        put_beyond(reason, said, limits->max_days, false);
    } else if (!is_within(rule->ignore.max_days, said, now_s)) {
        put_beyond(reason, said, rule->ignore.max_days, true);
    } else {
        return true;
    }
    return false;
}
