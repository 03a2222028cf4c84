/* Indexes for specs: the comma-separated list in the label "users", and the keys of all labels.
 * Owner: as index_source. One thread. */
#pragma once
#include "informer/store/index.h"
#include "informer/store/indexer.h"

/* Values of the label "users" split at commas; the value "bad" makes it fail. */
struct index_source by_users(void);
struct index_source by_label_keys(void);
/* "ernie{a/one,a/tre} bert{a/one}": every value, sorted, with the keys of its objects in the order of the
 * store. */
void describe_index(const struct indexer *indexer, const struct index *index, struct buf *out);
void assert_index(const struct indexer *indexer, const struct index *index, const char *expected);
