/* Fault rules; see fault.h. */
#include "sim/store/fault.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"

struct fault_rule {
    TAILQ_ENTRY(fault_rule) link;
    struct sim_fault fault;
    unsigned refs; /* guarded by the lock: requests that are just served by it */
};

struct sim_faults {
    pthread_mutex_t lock;
    TAILQ_HEAD(, fault_rule) rules;
};

/* Rules that a request matched, in their order. */
struct met {
    struct fault_rule **rules;
    size_t count;
};

struct sim_faults *sim_faults_new(void)
{
    struct sim_faults *faults = NEW(struct sim_faults);
    pthread_mutex_init(&faults->lock, NULL);
    TAILQ_INIT(&faults->rules);
    return faults;
}

static void unref(struct fault_rule *rule)
{
    if (--rule->refs) return;
    free(rule->fault.verb);
    free(rule->fault.resource);
    free(rule->fault.namespace_);
    free(rule->fault.path);
    sim_wrong_clear(&rule->fault.wrong);
    free(rule);
}

static void take_out(struct sim_faults *faults, struct fault_rule *rule)
{
    TAILQ_REMOVE(&faults->rules, rule, link);
    unref(rule);
}

void sim_faults_clear(struct sim_faults *faults)
{
    struct fault_rule *rule;
    pthread_mutex_lock(&faults->lock);
    while ((rule = TAILQ_FIRST(&faults->rules))) take_out(faults, rule);
    pthread_mutex_unlock(&faults->lock);
}

void sim_faults_free(struct sim_faults *faults)
{
    if (!faults) return;
    sim_faults_clear(faults);
    pthread_mutex_destroy(&faults->lock);
    free(faults);
}

void sim_faults_add(struct sim_faults *faults, const struct sim_fault *fault)
{
    struct fault_rule *rule = NEW(struct fault_rule);
    *rule = (struct fault_rule){.fault = *fault, .refs = 1};
    pthread_mutex_lock(&faults->lock);
    TAILQ_INSERT_TAIL(&faults->rules, rule, link);
    pthread_mutex_unlock(&faults->lock);
}

static bool same(const char *wanted, const char *is)
{
    return !wanted || (is && strcmp(wanted, is) == 0);
}

static bool matches(const struct sim_fault *fault, const struct sim_request *request, const char *verb,
                    const struct sim_target *target)
{
    if (fault->path && strncmp(request->path, fault->path, strlen(fault->path)) != 0) return false;
    if (!sim_wrong_suits(&fault->wrong, target ? verb : "")) return false;
    return same(fault->verb, verb) && same(fault->resource, target ? target->served->kind->plural : NULL) &&
           same(fault->namespace_, target ? target->namespace_ : NULL);
}

static bool refuses(const struct sim_fault *fault, const char *verb)
{
    return fault->wrong.kind == SIM_WRONG_STATUS && fault->wrong.code == 403 && !fault->skip &&
           same(fault->verb, verb);
}

static bool forbids(const struct sim_fault *fault, const char *verb, const char *resource,
                    const char *namespace_)
{
    return refuses(fault, verb) && !fault->path && same(fault->resource, resource) &&
           same(fault->namespace_, namespace_);
}

bool sim_faults_forbid(struct sim_faults *faults, const char *verb, const char *resource,
                       const char *namespace_)
{
    const struct fault_rule *rule;
    bool found = false;
    pthread_mutex_lock(&faults->lock);
    TAILQ_FOREACH (rule, &faults->rules, link)
        found = found || forbids(&rule->fault, verb, resource, namespace_);
    pthread_mutex_unlock(&faults->lock);
    return found;
}

bool sim_faults_forbid_path(struct sim_faults *faults, const char *verb, const char *path)
{
    const struct fault_rule *rule;
    bool found = false;
    pthread_mutex_lock(&faults->lock);
    TAILQ_FOREACH (rule, &faults->rules, link) {
        const struct sim_fault *fault = &rule->fault;
        found = found || (refuses(fault, verb) && fault->path && !fault->resource && !fault->namespace_ &&
                          strncmp(path, fault->path, strlen(fault->path)) == 0);
    }
    pthread_mutex_unlock(&faults->lock);
    return found;
}

/* Counts each rule that the request meets, and takes out those that are used up. One rule at most ends a
 * request; all that would do so too are for later ones. */
static struct met meet(struct sim_faults *faults, const struct sim_request *request, const char *verb,
                       const struct sim_target *target)
{
    struct met met = {0};
    struct fault_rule *rule, *next;
    bool ended = false;
    pthread_mutex_lock(&faults->lock);
    for (rule = TAILQ_FIRST(&faults->rules); rule; rule = next) {
        next = TAILQ_NEXT(rule, link);
        if (!matches(&rule->fault, request, verb, target)) continue;
        if (rule->fault.skip) {
            rule->fault.skip--;
            continue;
        }
        if (ended) continue;
        ended = sim_wrong_is_end(&rule->fault.wrong);
        *array_add(met.rules, met.count) = rule;
        rule->refs++;
        if (rule->fault.times && --rule->fault.times == 0) take_out(faults, rule);
    }
    pthread_mutex_unlock(&faults->lock);
    return met;
}

static void forget(struct sim_faults *faults, struct met *met)
{
    pthread_mutex_lock(&faults->lock);
    for (size_t i = 0; i < met->count; i++) unref(met->rules[i]);
    pthread_mutex_unlock(&faults->lock);
    free(met->rules);
}

/* Responds with a Status, or with any text and that code, as proxies do. */
static void respond_error(const struct sim_wrong *wrong, struct sim_reply *reply)
{
    if (!*wrong->text) {
        sim_reply_status(reply, sim_wrong_status(wrong));
        return;
    }
    reply->code = wrong->code;
    reply->content_type = "text/plain";
    reply->retry_after_s = wrong->retry_after_s;
    buf_puts(&reply->text, wrong->text);
}

/* Responds; returns true if there is no other response. */
static bool respond(const struct sim_wrong *wrong, const struct sim_request *request, struct sim_reply *reply)
{
    if (wrong->kind == SIM_WRONG_STATUS) {
        respond_error(wrong, reply);
        return true;
    }
    bool waits = wrong->kind == SIM_WRONG_DELAY || wrong->kind == SIM_WRONG_SILENCE;
    if (waits && sim_wait(request->fd, wrong->for_ms || wrong->kind == SIM_WRONG_DELAY ? wrong->for_ms : -1))
        return false;
    reply->code = wrong->kind == SIM_WRONG_RESET ? SIM_STREAM_RESET : SIM_STREAM_BROKEN;
    return true;
}

static void disturb(struct sim_api *api, const struct sim_wrong *wrong, const struct sim_target *target,
                    bool watch, struct sim_faulty *faulty)
{
    if (wrong->kind == SIM_WRONG_NO_END)
        faulty->no_end_bookmark = true;
    else if (wrong->kind == SIM_WRONG_IGNORE_INITIAL)
        faulty->ignores_initial_events = true;
    else {
        struct sim_action *action = sim_wrong_action(wrong, api, target->served, target->namespace_, watch);
        STAILQ_INSERT_TAIL(&faulty->actions, action, link);
    }
}

bool sim_faults_apply(struct sim_api *api, const struct sim_request *request, const char *verb,
                      const struct sim_target *target, struct sim_faulty *faulty, struct sim_reply *reply)
{
    struct met met = meet(api->faults, request, verb, target);
    bool responded = false;
    for (size_t i = 0; i < met.count && !responded; i++) {
        const struct sim_wrong *wrong = &met.rules[i]->fault.wrong;
        sim_count(&api->stats.faults, 1);
        if (sim_wrong_is_response(wrong))
            responded = respond(wrong, request, reply);
        else if (target)
            disturb(api, wrong, target, strcmp(verb, "watch") == 0, faulty);
    }
    forget(api->faults, &met);
    return responded;
}
