/* From the bytes of a watch to the objects of a kind, as a reflector and a store hold them. Owner: the
 * caller; borrows the texts. Each function that returns a number returns how many objects it was about. */
#pragma once
#include <stddef.h>

#include "object/pack/pool.h"
#include "texts.h"

struct kind_run;

/* Starts with a pool of its own. */
struct kind_run *kind_run_new(const struct kind_texts *texts);
void kind_run_free(struct kind_run *run);
/* simdjson reads each object into its own form. */
size_t kind_run_reference(struct kind_run *run);
/* Packs the next state of each object: the first time these are the objects of a first list. */
size_t kind_run_state(struct kind_run *run);
/* The first list has ended: gives back what helped to pack it, and returns what is in the pool. */
struct pool_stats kind_run_listed(struct kind_run *run);
