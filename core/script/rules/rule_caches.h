/* The caches of what the rules of scripts look at. Owner: the caller frees the array, not what is in it. On
 * the thread of the scripts. */
#pragma once
#include "informer/store/indexer.h"
#include "script/generation/script.h"

/* Each once, in the order of the rules: several may look at one kind, by a cache that they share. A kind that
 * there is no cache of is left out. */
struct indexer **rule_caches(struct script *const *scripts, size_t script_count, size_t *count);
