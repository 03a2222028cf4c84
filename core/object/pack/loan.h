/* Loans: a state of an object that copies sections of the last one counts no references for them. The last
 * state counts them for both; when it is freed, they become the next one's own. So an update counts nothing
 * for unchanged parts. A state lends to one other at most, its heir. Owner: the pool's thread. Used inside
 * core/object only. */
#pragma once
#include <stdint.h>

#include "object/pack/intern.h"

/* Behind the sections of a root that has any: granules; 0: none. */
struct loan {
    uint32_t lender, heir;
};

/* Returns whether the root could lend to another state. */
bool loan_is_free(const struct root *lender);
/* `heir`, whose sections are marked as borrowed, borrows those of `lender` with these numbers: as many, in
 * the same order. Before its references are counted. */
void loan_make(struct pool *pool, struct root *lender, struct root *heir, uint32_t numbers);
/* Counts the references of a root that is its own. */
void loan_retain(struct pool *pool, const struct root *root);
/* Releases the references of a root that is freed, except those that its heir takes over. */
void loan_release(struct pool *pool, struct root *root);
