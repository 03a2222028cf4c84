/* One store of small objects (objects.h). Owner: the spec; store_open and store_close are its setup and
 * teardown, and count references. One thread. */
#pragma once
#include "core/informer/support/objects.h"
#include "informer/store/indexer.h"

extern struct indexer *indexer;

int store_open(void **state);
int store_close(void **state);

void store_put(const char *text);
void store_put_labels(const char *text, const char *labels_json);
void store_drop(const char *text);

/* The next of a row, behind a blank: "a/x@1", or "-" for NULL. */
void describe_next(const struct root *root, struct buf *out);
/* The same, for the walks of a store; `ctx` is the buf. */
bool describe_each(void *ctx, struct root *root);
/* Empties it too. */
void assert_row(struct buf *row, const char *expected);
