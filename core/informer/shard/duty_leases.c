/* Leases as the writer of the table has seen them; see member_internal.h. Only how long a version was seen
 * here counts, not the times written in it: clocks of other machines are not trusted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "informer/shard/member_internal.h"

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct observed_lease *)a)->lease.name,
                  ((const struct observed_lease *)b)->lease.name);
}

static struct observed_lease *find(const struct duty *d, const char *name)
{
    struct observed_lease key;
    snprintf(key.lease.name, sizeof key.lease.name, "%s", name);
    return d->count ? bsearch(&key, d->observed, d->count, sizeof key, by_name) : NULL;
}

static struct observed_lease observe(const struct duty *d, const struct shard_lease *lease, int64_t now_ms)
{
    const struct observed_lease *before = find(d, lease->name);
    struct observed_lease now = {.lease = *lease, .since_ms = now_ms, .gone = lease->released};
    bool is_first = strcmp(d->first.name, lease->name) == 0 && strcmp(d->first.version, lease->version) == 0;
    if (before && !before->missing && strcmp(before->lease.version, lease->version) == 0)
        now.since_ms = before->since_ms;
    else if (is_first) /* seen when this member did not write yet */
        now.since_ms = d->first_since_ms;
    return now;
}

void observe_leases(struct duty *d, const struct shard_lease *leases, size_t count, int64_t sent_ms,
                    int64_t now_ms)
{
    size_t room = count + d->count, n = 0;
    struct observed_lease *all = xcalloc(room + 1, sizeof *all);
    for (size_t i = 0; i < count; i++) all[n++] = observe(d, &leases[i], now_ms);
    for (size_t i = 0; i < d->count; i++) {
        struct observed_lease o = d->observed[i];
        if (bsearch(&o, all, count, sizeof o, by_name)) continue;
        /* Replicas that left the table need not be remembered. */
        if (d->has_table && shard_table_find(&d->table, str_of(o.lease.name)) == SHARD_NOBODY) continue;
        if (!o.missing || o.unconfirmed) o.since_ms = now_ms;
        o.missing = true;
        o.unconfirmed = false;
        all[n++] = o;
    }
    qsort(all, n, sizeof *all, by_name);
    free(d->observed);
    d->observed = all;
    d->count = n;
}

bool next_to_delete(const struct duty *d, size_t *at)
{
    for (; *at < d->count; ++*at) {
        const struct observed_lease *o = &d->observed[*at];
        if (o->missing) continue;
        if (o->lease.released || d->sent_ms >= o->since_ms + o->lease.duration_ms) return true;
    }
    return false;
}

void observe_deleted(struct duty *d, size_t at, bool deleted)
{
    d->observed[at].gone |= deleted;
    d->observed[at].missing |= deleted;
}

/* A Lease that somebody deleted says nothing of its member, which finds out at its next renewal at the
 * latest, or stops when its time is over. Its time counts from a list that was sent when the table had the
 * member already: an older one may lack a Lease that came, and was deleted, only later. */
void observe_missing(struct duty *d, int64_t duration_ms, int64_t sent_ms, int64_t now_ms)
{
    for (size_t i = 0; i < d->count; i++) {
        struct observed_lease *o = &d->observed[i];
        o->gone |= o->missing && !o->unconfirmed && sent_ms >= o->since_ms + duration_ms;
    }
    struct observed_lease *all = xreallocarray(d->observed, d->count + d->table.count + 1, sizeof *all);
    size_t n = d->count;
    d->observed = all;
    for (size_t i = 0; i < d->table.count; i++) {
        if (find(d, d->table.members[i].name)) continue;
        all[n] = (struct observed_lease){.since_ms = now_ms, .missing = true, .unconfirmed = true};
        snprintf(all[n++].lease.name, SHARD_NAME_MAX, "%s", d->table.members[i].name);
    }
    d->count = n;
    qsort(all, n, sizeof *all, by_name);
}

struct shard_fact *facts_of(const struct duty *d)
{
    struct shard_fact *facts = xcalloc(d->count + 1, sizeof *facts);
    for (size_t i = 0; i < d->count; i++)
        facts[i] = (struct shard_fact){.name = str_of(d->observed[i].lease.name),
                                       .gone = d->observed[i].gone,
                                       .missing = d->observed[i].missing,
                                       .seen = d->observed[i].lease.seen};
    return facts;
}
