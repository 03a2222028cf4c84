/* Findings on their way from a rule, and those that an owner has accepted; see evaluation.h. */
#include "audit/rules/evaluation.h"

#include "audit/rules/suppression.h"
#include "object/value/value.h"

struct rule_call {
    const struct rule_ref *ref;
    const struct evaluation_options *options;
    const struct evaluation_sink *sink;
    bool has_suppression; /* whether the findings are accepted, below */
    enum suppression suppression;
    struct suppressed accepted;
    bool is_accepted; /* valid, and within the limits */
    struct text text;
};

/* "accepted until 2027-01-31: the vendor is told", "accepted until 2026-01-31, which has passed: ..." */
static void put_reason(const struct rule_call *call, struct buf *out)
{
    const struct suppressed *accepted = &call->accepted;
    const char *id = call->ref->rule->id;
    if (call->suppression == SUPPRESSION_BAD_DATE)
        buf_printf(out,
                   "not accepted: \"%.*s\" in " SUPPRESSION_PREFIX "%s is not a date; use until=2027-01-31",
                   STR_ARG(accepted->until), id);
    else if (call->suppression == SUPPRESSION_NO_REASON)
        buf_printf(out, "not accepted: " SUPPRESSION_PREFIX "%s gives no reason", id);
    else if (call->suppression == SUPPRESSION_EXPIRED || call->is_accepted)
        buf_printf(out, "accepted%s%.*s", accepted->until.n ? " until " : "", STR_ARG(accepted->until));
    if (call->suppression == SUPPRESSION_EXPIRED) buf_puts(out, ", which has passed");
    if (accepted->reason.n) buf_printf(out, ": %.*s", STR_ARG(accepted->reason));
}

/* "not accepted by kubelua/ignore.image-tagg: no rule with that id is evaluated, did you mean image-tag?" */
static void find_misspelt(struct rule_call *call)
{
    const struct evaluation_options *options = call->options;
    const char *id = call->ref->rule->id;
    struct str misspelt =
        suppression_misspelt(options->object, id, options->is_rule, options->ctx, &call->text);
    if (misspelt.n)
        buf_printf(options->text,
                   "not accepted by " SUPPRESSION_PREFIX "%.*s: unknown rule id, did you mean %s?",
                   STR_ARG(misspelt), id);
}

static bool is_allowed(const struct rule_call *call)
{
    const struct evaluation_options *options = call->options;
    struct text text;
    return suppression_is_allowed(options->limits, call->ref->rule, root_namespace(options->object, &text),
                                  &call->accepted, options->now_s, options->text);
}

static void find_suppression(struct rule_call *call)
{
    struct buf *reason = call->options->text;
    call->has_suppression = true;
    call->suppression = suppression_of(call->options->object, str_of(call->ref->rule->id),
                                       call->options->now_s, &call->text, &call->accepted);
    reason->len = 0;
    if (call->suppression == SUPPRESSION_VALID) call->is_accepted = is_allowed(call);
    if (call->suppression != SUPPRESSION_NONE)
        put_reason(call, reason);
    else
        find_misspelt(call);
}

/* Passes a finding on; an accepted one becomes a skip and keeps all its fields. */
static void on_found(void *ctx, const struct rule_finding *finding)
{
    struct rule_call *call = ctx;
    struct rule_finding reported = *finding;
    bool counts = finding->verdict == VERDICT_WARN || finding->verdict == VERDICT_FAIL, accepted = false;
    if (counts && !call->has_suppression) find_suppression(call);
    if (counts) {
        reported.reason = buf_slice(call->options->text);
        accepted = call->is_accepted;
        if (accepted) reported.verdict = VERDICT_SKIP;
    }
    call->sink->found(call->sink->ctx, &reported, accepted);
}

static void on_dependency(void *ctx, size_t use, struct str value)
{
    const struct rule_call *call = ctx;
    call->sink->depends_on(call->sink->ctx, use, value);
}

static void on_missed(void *ctx, struct str name, bool whole)
{
    const struct rule_call *call = ctx;
    call->sink->missed(call->sink->ctx, name, whole);
}

struct evaluation rule_evaluate(const struct rule_ref *ref, const struct evaluation_options *options,
                                const struct evaluation_sink *sink)
{
    struct rule_call call = {.ref = ref, .options = options, .sink = sink};
    const struct rule_sink inner = {.found = on_found,
                                    .depends_on = sink->depends_on ? on_dependency : NULL,
                                    .ctx = &call,
                                    .projection = sink->projection,
                                    .missed = on_missed};
    enum verdict verdict = script_evaluate_rule(ref->script, ref->number, options->object, &inner);
    bool counts = verdict == VERDICT_WARN || verdict == VERDICT_FAIL;
    bool accepted = counts && call.is_accepted;
    return (struct evaluation){accepted ? VERDICT_SKIP : verdict, accepted,
                               call.suppression == SUPPRESSION_VALID && call.accepted.until.n > 0};
}
