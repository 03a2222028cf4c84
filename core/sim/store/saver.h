/* Saves the objects of a store to a file (state.h): soon after they change, and at the end. Owner: the
 * server, which frees it when no request is served any more. Belongs to the loop's thread; it writes on one
 * of its own. */
#pragma once
#include "net/loop.h"
#include "sim/store/store.h"

struct sim_saver;

/* With `is_saved` the present objects are saved already. The path is borrowed. */
struct sim_saver *sim_saver_new(struct loop *loop, struct sim_store *store, const char *path, bool is_saved);
/* Saves what is not saved yet. A failure is logged. */
void sim_saver_free(struct sim_saver *saver);
