/* Objects that the server has and the engine refuses: nobody knows what rules would say of them, and rules
 * that use their kind would find fault with what is there; see continuous_internal.h. */
#include <stdlib.h>
#include <string.h>

#include "audit/continuous/continuous_internal.h"
#include "base/mem.h"

static bool uses_refused(const struct live_rule *rule)
{
    for (size_t i = 0; i < rule->use_count; i++)
        if (claim_refused(rule->watches[i]->claim)) return true;
    return false;
}

static void note_claims(struct continuous *audit)
{
    struct source *source;
    struct watch *watch;
    TAILQ_FOREACH (source, &audit->sources, link) claim_note_refused(source->claim);
    TAILQ_FOREACH (watch, &audit->watches, link) claim_note_refused(watch->claim);
}

void continuous_look_at_refused(struct continuous *audit)
{
    struct live_rule *rule;
    note_claims(audit);
    TAILQ_FOREACH (rule, &audit->rules, link) {
        bool is_torn = uses_refused(rule);
        if (is_torn == rule->is_torn) continue;
        rule->is_torn = is_torn;
        if (is_torn)
            live_rule_forget(rule);
        else
            live_rule_make_stale(rule, 0);
    }
}

/* Two claims may have the same cache. */
static void tell(struct buf *told, const struct informer_claim *claim,
                 void (*fn)(void *ctx, const char *kind, const char *text), void *ctx)
{
    struct buf text = {0};
    if (claim_describe_refused(claim, &text)) {
        char *line = xasprintf("\n%s\n", buf_text(&text));
        if (!strstr(buf_text(told), line)) {
            buf_puts(told, line);
            fn(ctx, claim_spec(claim)->kind, buf_text(&text));
        }
        free(line);
    }
    buf_clear(&text);
}

void continuous_each_refused(const struct continuous *audit,
                             void (*fn)(void *ctx, const char *kind, const char *text), void *ctx)
{
    const struct source *source;
    const struct watch *watch;
    struct buf told = {0};
    TAILQ_FOREACH (source, &audit->sources, link) tell(&told, source->claim, fn, ctx);
    TAILQ_FOREACH (watch, &audit->watches, link) tell(&told, watch->claim, fn, ctx);
    buf_clear(&told);
}
