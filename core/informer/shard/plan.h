/* Assignment of slots to the members of a group: pure functions from a table and what is known of the members
 * to the next table. Owner: stateless. May be used anywhere. */
#pragma once
#include "informer/shard/table.h"

/* One member's Lease, as judged by the writer of the table. */
struct shard_fact {
    struct str name; /* borrowed */
    bool gone;       /* it holds nothing and never will again: fenced off, or released */
    bool missing;    /* it has no Lease: it cannot be a new member */
    int64_t seen;    /* last epoch that it has applied */
};

/* Makes the next table: takes out members that are gone, frees slots that were given up, adds new members,
 * balances to within one slot by the fewest moves, and raises the epoch. A member without a fact stays as it
 * is. Returns whether the table changed. `facts` are sorted by name. `now` is the least epoch of a new table.
 * `settled`: a member whose Lease somebody deleted has stopped by now; see `replaces` of a table. */
bool shard_plan(struct shard_table *table, const struct shard_fact *facts, size_t count, int64_t now,
                bool settled);
