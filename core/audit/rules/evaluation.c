/* Findings on their way from a rule, and those that an owner has accepted; see evaluation.h. */
#include "audit/rules/evaluation.h"

#include "audit/rules/suppression.h"
#include "object/value/value.h"

struct asking {
    const struct rule_ref *asked;
    const struct evaluation_options *options;
    const struct evaluation_sink *sink;
    bool looked_up; /* whether the findings are accepted, below */
    enum suppression suppression;
    struct suppressed accepted;
    struct text text;
};

/* "accepted until 2027-01-31: the vendor is told", "accepted until 2026-01-31, which has passed: ..." */
static void put_reason(const struct asking *asking, struct buf *out)
{
    const struct suppressed *accepted = &asking->accepted;
    const char *id = asking->asked->rule->id;
    if (asking->suppression == SUPPRESSION_BAD_DATE)
        buf_printf(out,
                   "not accepted: \"%.*s\" in " SUPPRESSION_PREFIX "%s is not a date; use until=2027-01-31",
                   STR_ARG(accepted->until), id);
    else if (asking->suppression == SUPPRESSION_NO_REASON)
        buf_printf(out, "not accepted: " SUPPRESSION_PREFIX "%s gives no reason", id);
    else
        buf_printf(out, "accepted%s%.*s", accepted->until.n ? " until " : "", STR_ARG(accepted->until));
    if (asking->suppression == SUPPRESSION_EXPIRED) buf_puts(out, ", which has passed");
    if (accepted->reason.n) buf_printf(out, ": %.*s", STR_ARG(accepted->reason));
}

/* "not accepted by kubelua/ignore.image-tagg: no rule with that id is evaluated, did you mean image-tag?" */
static void find_misspelt(struct asking *asking)
{
    const struct evaluation_options *options = asking->options;
    const char *id = asking->asked->rule->id;
    struct str misspelt =
        suppression_misspelt(options->object, id, options->is_rule, options->ctx, &asking->text);
    if (misspelt.n)
        buf_printf(options->text,
                   "not accepted by " SUPPRESSION_PREFIX "%.*s: unknown rule id, did you mean %s?",
                   STR_ARG(misspelt), id);
}

static void look_up(struct asking *asking)
{
    struct buf *reason = asking->options->text;
    asking->looked_up = true;
    asking->suppression = suppression_of(asking->options->object, str_of(asking->asked->rule->id),
                                         asking->options->now_s, &asking->text, &asking->accepted);
    reason->len = 0;
    if (asking->suppression != SUPPRESSION_NONE)
        put_reason(asking, reason);
    else
        find_misspelt(asking);
}

/* Passes a finding on; an accepted one becomes a skip and keeps all its fields. */
static void on_found(void *ctx, const struct rule_finding *finding)
{
    struct asking *asking = ctx;
    struct rule_finding told = *finding;
    bool counts = finding->verdict == VERDICT_WARN || finding->verdict == VERDICT_FAIL, accepted = false;
    if (counts && !asking->looked_up) look_up(asking);
    if (counts) {
        told.reason = buf_slice(asking->options->text);
        accepted = asking->suppression == SUPPRESSION_VALID;
        if (accepted) told.verdict = VERDICT_SKIP;
    }
    asking->sink->found(asking->sink->ctx, &told, accepted);
}

static void on_looked(void *ctx, size_t use, struct str value)
{
    const struct asking *asking = ctx;
    asking->sink->looked(asking->sink->ctx, use, value);
}

static void on_missed(void *ctx, struct str name, bool whole)
{
    const struct asking *asking = ctx;
    asking->sink->missed(asking->sink->ctx, name, whole);
}

struct evaluation rule_evaluate(const struct rule_ref *asked, const struct evaluation_options *options,
                                const struct evaluation_sink *sink)
{
    struct asking asking = {.asked = asked, .options = options, .sink = sink};
    const struct rule_sink inner = {.found = on_found,
                                    .looked = sink->looked ? on_looked : NULL,
                                    .ctx = &asking,
                                    .kept = sink->kept,
                                    .missed = on_missed};
    enum verdict verdict = script_evaluate_rule(asked->script, asked->number, options->object, &inner);
    bool counts = verdict == VERDICT_WARN || verdict == VERDICT_FAIL;
    bool accepted = counts && asking.suppression == SUPPRESSION_VALID;
    return (struct evaluation){accepted ? VERDICT_SKIP : verdict, accepted,
                               asking.suppression == SUPPRESSION_VALID && asking.accepted.until.n > 0};
}
