/* Faults that requests of a test meet; see inside_faults.h. */
#include "app/inside/inside_faults.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void spec_faults_init(struct spec_faults *faults)
{
    TAILQ_INIT(&faults->rules);
}

void spec_faults_add(struct spec_faults *faults, const struct spec_fault *fault)
{
    struct spec_fault_rule *rule = NEW(struct spec_fault_rule);
    struct spec_fault *own = &rule->fault;
    *own = *fault;
    own->verb = xstrdup(fault->verb);
    own->resource = xstrdup(fault->resource);
    own->namespace_ = xstrdup(fault->namespace_);
    own->name = xstrdup(fault->name);
    own->subresource = xstrdup(fault->subresource);
    own->reason = xstrdup(fault->reason);
    own->message = xstrdup(fault->message);
    TAILQ_INSERT_TAIL(&faults->rules, rule, link);
}

static void drop(struct spec_faults *faults, struct spec_fault_rule *rule)
{
    struct spec_fault *own = &rule->fault;
    const char *const texts[] = {own->verb,        own->resource, own->namespace_, own->name,
                                 own->subresource, own->reason,   own->message};
    TAILQ_REMOVE(&faults->rules, rule, link);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) free((char *)texts[i]);
    free(rule);
}

void spec_faults_clear(struct spec_faults *faults)
{
    struct spec_fault_rule *rule;
    while ((rule = TAILQ_FIRST(&faults->rules))) drop(faults, rule);
}

static bool same(const char *wanted, const char *is)
{
    return !wanted || (is && strcmp(wanted, is) == 0);
}

/* A server-side apply is a patch on the wire. */
static bool same_verb(const char *wanted, const char *is, const char *content_type)
{
    static const char apply_type[] = "application/apply-patch";
    if (!wanted || strcmp(wanted, "apply") != 0) return same(wanted, is);
    return strcmp(is, "patch") == 0 && content_type &&
           strncmp(content_type, apply_type, sizeof apply_type - 1) == 0;
}

static bool matches(const struct spec_fault *fault, const struct sim_inside_about *about,
                    const char *content_type)
{
    return about->resource && same_verb(fault->verb, about->verb, content_type) &&
           same(fault->resource, about->resource) && same(fault->namespace_, about->namespace_) &&
           same(fault->name, about->name) && same(fault->subresource, about->subresource);
}

static void apply(const struct spec_fault *fault, struct spec_outcome *outcome)
{
    outcome->delay_ms += fault->delay_ms;
    if (!fault->code) return;
    outcome->code = fault->code;
    outcome->retry_after_s = fault->retry_after_s;
    outcome->reason = xstrdup(fault->reason);
    outcome->message = xstrdup(fault->message);
}

void spec_faults_meet(struct spec_faults *faults, const struct sim_inside_about *about,
                      const char *content_type, struct spec_outcome *outcome)
{
    struct spec_fault_rule *rule, *next;
    *outcome = (struct spec_outcome){0};
    for (rule = TAILQ_FIRST(&faults->rules); rule; rule = next) {
        next = TAILQ_NEXT(rule, link);
        struct spec_fault *fault = &rule->fault;
        if (!matches(fault, about, content_type) || (fault->code && outcome->code)) continue;
        if (fault->skip > 0) {
            fault->skip--;
            continue;
        }
        rule->met = true;
        apply(fault, outcome);
        if (fault->times > 0 && --fault->times == 0) drop(faults, rule);
    }
}

bool spec_faults_has_unmet(const struct spec_faults *faults, int id)
{
    const struct spec_fault_rule *rule;
    TAILQ_FOREACH (rule, &faults->rules, link)
        if (rule->fault.id == id) return !rule->met;
    return false;
}

void spec_outcome_clear(struct spec_outcome *outcome)
{
    free(outcome->reason);
    free(outcome->message);
}
