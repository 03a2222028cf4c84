/* State of a claim's informer; see claim_status.h. */
#include "informer/shared/claim_status.h"

#include <stdio.h>

#include "informer/reflect/refusals.h"
#include "informer/shared/shared_factory_internal.h"
#include "object/pack/pool.h"

/* Objects whose size is sampled, and those of them that are fetched from memory at the same time. */
enum { SAMPLE = 4096, FETCHED = 32 };

const char *claim_state_name(enum claim_state state)
{
    static const char *const names[] = {
        [CLAIM_PENDING] = "pending", [CLAIM_UNKNOWN_KIND] = "unknown kind", [CLAIM_LISTING] = "listing",
        [CLAIM_SYNCED] = "synced",   [CLAIM_FORBIDDEN] = "forbidden",       [CLAIM_GONE] = "gone",
        [CLAIM_ERROR] = "error",
    };
    return names[state];
}

/* A watch that broke and resumed at once is not an error yet; an error lasts until something was received. */
static bool is_failing(const struct shared *shared, const struct reflector_status *status)
{
    bool was = shared->state == CLAIM_ERROR || shared->state == CLAIM_FORBIDDEN;
    return status->last_error.code && (was || status->state == REFLECTOR_BACKING_OFF);
}

static enum claim_state state_of(const struct shared *shared, const struct reflector_status *status)
{
    const struct shared *awaited = shared_namespaces_awaited(shared);
    if (awaited) return awaited->state == CLAIM_SYNCED ? CLAIM_LISTING : awaited->state;
    if (shared->gone.code) return CLAIM_GONE;
    if (shared->namespaces.limit.code) return CLAIM_ERROR;
    if (is_failing(shared, status))
        return status->last_error.http_status == 403 ? CLAIM_FORBIDDEN : CLAIM_ERROR;
    return shared_informer_has_synced(shared->informer) ? CLAIM_SYNCED : CLAIM_LISTING;
}

/* A watch of all is forbidden: at the next check the namespaces get informers of their own. */
static bool is_about_to_split(const struct shared *shared)
{
    const struct shared_namespaces *own = &shared->namespaces;
    return own->informer && own->begun && !own->each && shared->state == CLAIM_FORBIDDEN &&
           !shared_informer_has_synced(shared->informer);
}

bool shared_is_settled(const struct shared *shared)
{
    if (is_about_to_split(shared)) return false;
    return shared->state == CLAIM_FORBIDDEN || shared->state == CLAIM_GONE ||
           shared_informer_has_synced(shared->informer);
}

void shared_note_state(struct shared *shared, const struct reflector_status *status)
{
    /* The claim was resumed before the discovery. */
    if (status->state == REFLECTOR_WATCHING && !status->last_error.code) err_clear(&shared->gone);
    enum claim_state state = state_of(shared, status);
    if (state == shared->state) return;
    shared->state = state;
    shared->since_us = clock_wall_us(loop_clock(shared->factory->options.engine_loop));
}

size_t indexer_estimate_bytes(const struct indexer *indexer)
{
    /* Every nth entry, as the order of keys groups similar objects; those between are not touched, as each
     * would be fetched from memory. Those that are touched are fetched some at a time. */
    size_t count = indexer_count(indexer), step = count / SAMPLE + 1, sampled = 0, bytes = 0, at = 0, some;
    struct root *objects[FETCHED];
    struct pool *pool = NULL;
    do {
        for (some = 0; some < FETCHED && (objects[some] = indexer_next(indexer, &at)); at += step - 1)
            root_prefetch(objects[some++]);
        for (size_t i = 0; i < some; i++) bytes += root_bytes(objects[i]);
        if (some > 0) pool = root_pool(objects[0]);
        sampled += some;
    } while (some == FETCHED);
    return sampled ? pool_share(pool, bytes / sampled * count) : 0;
}

/* Sets the figures of a store, which is that of a set or of one member. */
static void measure(const struct indexer *indexer, struct claim_status *out)
{
    out->objects = indexer_count(indexer);
    out->bytes = indexer_estimate_bytes(indexer);
    snprintf(out->resource_version, sizeof out->resource_version, "%s", indexer_resource_version(indexer));
}

static void explain(struct claim_status *out)
{
    const struct reflector_status *r = &out->reflector;
    const char *text = out->last_error.text;
    char expected[32] = "";
    bool lists = out->state == CLAIM_LISTING && !*text;
    if (r->expected > 0) snprintf(expected, sizeof expected, "of about %zu ", r->expected);
    if (lists && r->received > 0)
        snprintf(out->text, sizeof out->text, "the initial list is in progress: %zu %sobjects received",
                 r->received, expected);
    else
        snprintf(out->text, sizeof out->text, "%s", lists ? "the initial list is in progress" : text);
}

/* The error of the informer of namespaces, for which this one waits. */
static void explain_namespaces(const struct shared *shared, struct claim_status *out)
{
    struct shared *namespaces = shared_namespaces_awaited(shared);
    struct reflector_status status = {0};
    if (shared->namespaces.limit.code) out->last_error = shared->namespaces.limit;
    if (!namespaces) return;
    err_clear(&status.last_error);
    feed_get_status(namespaces->feed, &status);
    if (status.last_error.code) out->last_error = status.last_error;
}

static void get_member(struct shared *shared, struct claim_status *out)
{
    *out = (struct claim_status){0};
    err_clear(&out->reflector.last_error);
    feed_get_status(shared->feed, &out->reflector);
    shared_note_state(shared, &out->reflector);
    out->state = shared->state;
    out->since_us = shared->since_us;
    out->synced = shared_informer_has_synced(shared->informer);
    out->last_error = shared->gone.code ? shared->gone : out->reflector.last_error;
    explain_namespaces(shared, out);
    out->heard_us = out->reflector.heard_us;
    out->transform = *shared_informer_transform_counts(shared->informer);
    explain(out);
}

/* Returns whether `a` determines the state of a set rather than `b`: errors first, then what is still
 * pending, then what has been so the longest. */
static bool is_worse(const struct claim_status *a, const struct claim_status *b)
{
    static const int rank[] = {
        [CLAIM_SYNCED] = 0, [CLAIM_LISTING] = 1, [CLAIM_ERROR] = 2, [CLAIM_FORBIDDEN] = 3, [CLAIM_GONE] = 4};
    if (a->state != b->state) return rank[a->state] > rank[b->state];
    return a->state == CLAIM_SYNCED ? a->since_us > b->since_us : a->since_us < b->since_us;
}

/* Sets the status of a set: that of its worst member, the oldest time of all, and synced only if all are. */
static void get_set(const struct informer_set *set, struct claim_status *out)
{
    /* One that has only the namespaces hears nothing of objects. */
    const struct shared_namespaces *namespaces = &set->members[0]->namespaces;
    size_t first = namespaces->each && !namespaces->limit.code && set->count > 1;
    get_member(set->members[first], out);
    for (size_t i = first + 1; i < set->count; i++) {
        struct claim_status one;
        get_member(set->members[i], &one);
        int64_t heard_us = one.heard_us < out->heard_us ? one.heard_us : out->heard_us;
        bool synced = out->synced && one.synced;
        const struct transform_counts sum = {.dropped = out->transform.dropped + one.transform.dropped,
                                             .failed = out->transform.failed + one.transform.failed};
        if (is_worse(&one, out)) *out = one;
        out->heard_us = heard_us;
        out->synced = synced;
        out->transform = sum;
    }
    measure(set->store, out);
    out->each = namespaces->each;
    out->namespaces =
        out->each ? (struct followed_counts){set->count - 1, 0} : feed_get_followed(set->members[0]->feed);
}

void claim_get_status(struct informer_claim *claim, struct claim_status *out)
{
    if (claim->set) {
        get_set(claim->set, out);
        return;
    }
    *out = (struct claim_status){
        .state = claim->unknown && !claim->undecided ? CLAIM_UNKNOWN_KIND : CLAIM_PENDING,
        .since_us = claim->since_us,
    };
    err_clear(&out->last_error);
    if (claim->unknown) out->last_error = *claim->unknown;
    err_clear(&out->reflector.last_error);
    explain(out);
}

size_t claim_part_count(const struct informer_claim *claim)
{
    return claim->set ? claim->set->count : 0;
}

const char *claim_part_name(const struct informer_claim *claim, size_t i)
{
    return shared_informer_name(claim->set->members[i]->informer);
}

const char *claim_get_part_status(struct informer_claim *claim, size_t i, struct claim_status *out)
{
    struct shared *member = claim->set->members[i];
    get_member(member, out);
    measure(shared_informer_indexer(member->informer), out);
    return member->key.namespace_;
}

static void describe(const struct informer_claim *claim, const char *name, const struct claim_status *status,
                     struct buf *out)
{
    struct clock *clock = loop_clock(claim->factory->options.engine_loop);
    int64_t seconds = (clock_wall_us(clock) - status->since_us) / 1000000;
    if (out->len) buf_puts(out, "; ");
    buf_printf(out, "%s: %s for %lld s", name, claim_state_name(status->state), (long long)seconds);
    if (!*status->text) return;
    size_t from = out->len;
    buf_printf(out, ": %s", status->text);
    if (from > CLAIM_LINE_MAX) buf_shorten(out, from, CLAIM_BRIEF_MAX);
}

void shared_note_refused(struct shared *shared, const struct reflector_status *status)
{
    shared->refused = status->refused;
    shared->refused_text.len = 0;
    buf_puts(&shared->refused_text, status->refused_text);
}

void claim_note_refused(struct informer_claim *claim)
{
    for (size_t i = 0; i < claim_part_count(claim); i++) {
        struct reflector_status status = {0};
        feed_get_status(claim->set->members[i]->feed, &status);
        shared_note_refused(claim->set->members[i], &status);
    }
}

size_t claim_refused(const struct informer_claim *claim)
{
    size_t refused = 0;
    for (size_t i = 0; i < claim_part_count(claim); i++) refused += claim->set->members[i]->refused;
    return refused;
}

bool claim_describe_refused(const struct informer_claim *claim, struct buf *out)
{
    for (size_t i = 0; i < claim_part_count(claim); i++) {
        struct shared *shared = claim->set->members[i];
        if (!shared->refused) continue;
        if (out->len) buf_puts(out, "; ");
        refusals_put(out, shared_informer_name(shared->informer), shared->refused,
                     buf_text(&shared->refused_text));
    }
    return claim_refused(claim) > 0;
}

bool claim_describe_lag(struct informer_claim *claim, struct buf *out)
{
    struct claim_status status;
    bool lags = false;
    if (claim->suspended) return false;
    for (size_t i = 0; i < claim_part_count(claim); i++) {
        struct shared_informer *informer = claim->set->members[i]->informer;
        get_member(claim->set->members[i], &status);
        if (!status.synced) describe(claim, shared_informer_name(informer), &status, out);
        lags |= !status.synced;
    }
    if (claim->set) return lags;
    claim_get_status(claim, &status);
    describe(claim, claim->spec.kind, &status, out);
    return true;
}
