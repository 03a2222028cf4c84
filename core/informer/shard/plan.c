/* Assignment of slots; see plan.h. */
#include "informer/shard/plan.h"

#include <stdlib.h>

#include "base/mem.h"

static int by_name(const void *key, const void *item)
{
    return str_cmp(*(const struct str *)key, ((const struct shard_fact *)item)->name);
}

static const struct shard_fact *fact_of(const struct shard_fact *facts, size_t count, const char *name)
{
    struct str key = str_of(name);
    return count ? bsearch(&key, facts, count, sizeof *facts, by_name) : NULL;
}

/* --- members */

static bool remove_gone(struct shard_table *table, const struct shard_fact *facts, size_t count)
{
    bool changed = false;
    for (size_t i = table->count; i-- > 0;) {
        const struct shard_fact *fact = fact_of(facts, count, table->members[i].name);
        if (!fact || !fact->gone) continue;
        shard_table_remove(table, i);
        changed = true;
    }
    return changed;
}

static bool add_new(struct shard_table *table, const struct shard_fact *facts, size_t count)
{
    bool changed = false;
    for (size_t i = 0; i < count && table->count < SHARD_MEMBERS_MAX; i++) {
        if (facts[i].gone || facts[i].missing || shard_table_find(table, facts[i].name) != SHARD_NOBODY)
            continue;
        shard_table_add(table, facts[i].name);
        changed = true;
    }
    return changed;
}

static bool free_given_up(struct shard_table *table, const struct shard_fact *facts, size_t count)
{
    bool changed = false;
    for (size_t slot = 0; slot < SHARD_SLOTS; slot++) {
        if (!table->leaving[slot]) continue;
        const struct shard_fact *fact = fact_of(facts, count, table->members[table->owner[slot]].name);
        if (!fact || fact->seen < table->leaving[slot]) continue;
        table->owner[slot] = SHARD_NOBODY;
        table->leaving[slot] = 0;
        changed = true;
    }
    return changed;
}

static bool barrier_passed(const struct shard_table *table, const struct shard_fact *facts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!facts[i].gone && facts[i].seen < table->barrier) return false;
    return true;
}

/* --- balance */

struct share {
    size_t member, has, quota;
};

/* Members with most slots come first: they keep the slot that cannot be divided, so that the fewest move. */
static int by_load(const void *a, const void *b)
{
    const struct share *x = a, *y = b;
    if (x->has != y->has) return x->has > y->has ? -1 : 1;
    return x->member < y->member ? -1 : x->member > y->member;
}

static int by_member(const void *a, const void *b)
{
    const struct share *x = a, *y = b;
    return x->member < y->member ? -1 : x->member > y->member;
}

/* Returns the share of each member, in their order; the caller frees it. */
static struct share *make_shares(const struct shard_table *table)
{
    struct share *shares = xcalloc(table->count + 1, sizeof *shares);
    for (size_t i = 0; i < table->count; i++) shares[i].member = i;
    for (size_t slot = 0; slot < SHARD_SLOTS; slot++)
        if (table->owner[slot] != SHARD_NOBODY && !table->leaving[slot]) shares[table->owner[slot]].has++;
    qsort(shares, table->count, sizeof *shares, by_load);
    for (size_t i = 0; i < table->count; i++)
        shares[i].quota = SHARD_SLOTS / table->count + (i < SHARD_SLOTS % table->count);
    qsort(shares, table->count, sizeof *shares, by_member);
    return shares;
}

/* --- giving up */

struct slot_run {
    size_t first, end;
};

static int by_length(const void *a, const void *b)
{
    const struct slot_run *x = a, *y = b;
    size_t n = x->end - x->first, m = y->end - y->first;
    return n != m ? (n < m ? -1 : 1) : x->first < y->first ? -1 : x->first > y->first;
}

static void mark(struct shard_table *table, size_t first, size_t end)
{
    for (size_t slot = first; slot < end; slot++) table->leaving[slot] = table->epoch + 1;
}

/* Has a member give up `surplus` slots: complete small runs first, then the end of the next one, so that few
 * ranges are left. */
static void give_up(struct shard_table *table, size_t member, size_t surplus)
{
    struct slot_set set = shard_table_slots(table, member);
    struct slot_run runs[SHARD_SLOTS / 2];
    size_t count = 0, at = 0;
    for (size_t first, end = 0; slot_set_next_run(&set, &first, &end);)
        runs[count++] = (struct slot_run){first, end};
    qsort(runs, count, sizeof *runs, by_length);
    for (; at < count && surplus >= runs[at].end - runs[at].first; at++) {
        mark(table, runs[at].first, runs[at].end);
        surplus -= runs[at].end - runs[at].first;
    }
    if (surplus) mark(table, runs[at].end - surplus, runs[at].end);
}

static bool give_up_surplus(struct shard_table *table, const struct share *shares)
{
    bool changed = false;
    for (size_t i = 0; i < table->count; i++) {
        if (shares[i].has <= shares[i].quota) continue;
        give_up(table, i, shares[i].has - shares[i].quota);
        changed = true;
    }
    return changed;
}

/* --- giving */

static size_t lack(const struct share *share)
{
    return share->quota > share->has ? share->quota - share->has : 0;
}

/* Returns the taker of a free slot: the owner of the one before it, which makes a range longer, else the one
 * that lacks most; SHARD_NOBODY: all have their share. */
static size_t taker_of(const struct shard_table *table, const struct share *shares, size_t slot)
{
    size_t best = SHARD_NOBODY, before = slot ? table->owner[slot - 1] : SHARD_NOBODY;
    if (before != SHARD_NOBODY && lack(&shares[before])) return before;
    for (size_t i = 0; i < table->count; i++)
        if (lack(&shares[i]) && (best == SHARD_NOBODY || lack(&shares[i]) > lack(&shares[best]))) best = i;
    return best;
}

static bool give(struct shard_table *table, struct share *shares)
{
    bool changed = false;
    for (size_t slot = 0; slot < SHARD_SLOTS; slot++) {
        if (table->owner[slot] != SHARD_NOBODY) continue;
        size_t taker = taker_of(table, shares, slot);
        if (taker == SHARD_NOBODY) break;
        table->owner[slot] = (uint16_t)taker;
        shares[taker].has++;
        changed = true;
    }
    return changed;
}

bool shard_plan(struct shard_table *table, const struct shard_fact *facts, size_t count, int64_t now,
                bool settled)
{
    bool is_new = table->epoch == 0, changed = is_new;
    if (table->epoch < now && is_new) table->epoch = now;
    /* Above every epoch that was applied: replicas ignore a table that is older than the one they know. Who
     * has applied one, or had a Lease that is missing, may still work. */
    for (size_t i = 0; i < count; i++) {
        changed |= facts[i].seen > table->epoch;
        table->replaces |= is_new && (facts[i].seen > 0 || facts[i].missing);
        if (facts[i].seen > table->epoch) table->epoch = facts[i].seen;
    }
    changed |= remove_gone(table, facts, count);
    changed |= add_new(table, facts, count);
    changed |= free_given_up(table, facts, count);
    if (table->barrier && (settled || !table->replaces) && barrier_passed(table, facts, count)) {
        table->barrier = 0;
        table->replaces = false;
        changed = true;
    }
    if (is_new) table->barrier = table->epoch + 1;
    if (!table->barrier) {
        struct share *shares = make_shares(table);
        changed |= give_up_surplus(table, shares);
        changed |= give(table, shares);
        free(shares);
    }
    table->epoch += changed;
    return changed;
}
