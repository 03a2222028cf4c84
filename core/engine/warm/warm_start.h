/* Start from stored caches (docs/dev/adr/0006-warm-start.md): reads the file of a cache directory, and gives
 * each informer what it had, once the server turned out to be the same cluster. Whatever is wrong with the
 * file costs a line in the log and a cold start. Owner: the driver, on the engine thread; the cluster borrows
 * it. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "engine/warm/cache_file.h"

struct warm_options {
    const char *dir;     /* made if missing, for its owner alone */
    bool with_secrets;   /* objects of the kind Secret are stored too */
    int64_t interval_ms; /* between two saves */
};

struct warm_start;

/* Opens the directory and reads its file; before this process has packed any object. NULL with ERR_IO when
 * the directory cannot be made or written. A directory that another engine uses is neither read nor written.
 */
struct warm_start *warm_start_new(const struct warm_options *options, struct err *err);
/* Frees what was not taken. NULL is allowed. */
void warm_start_free(struct warm_start *warm);
const struct warm_options *warm_start_options(const struct warm_start *warm);
/* Returns the path of the file; NULL: the directory is another engine's. */
const char *warm_start_path(const struct warm_start *warm);

/* Returns the pool of the stored objects, which stays its own until it is taken; NULL: the start is cold, or
 * it was taken. Who took it calls warm_start_end before the pool ends. */
struct pool *warm_start_pool(const struct warm_start *warm);
void warm_start_take_pool(struct warm_start *warm);
/* Returns whether caches wait for warm_start_decide. */
bool warm_start_is_undecided(const struct warm_start *warm);
/* Uses the caches if they are of this cluster, and releases them otherwise. `cluster` is "" if the cluster
 * could not be identified; `why` says why. */
void warm_start_decide(struct warm_start *warm, const char *cluster, const char *why);
/* As shared_factory_options.stored. */
bool warm_start_take(void *warm, const char *identity, struct stored_list *list);
/* As script_host.knew_handler: also before the decision; a handler that a cold start follows after all gets
 * everything. */
bool warm_start_knew_handler(void *warm, const char *script, const char *handler);
/* Releases what no informer took: the scripts have theirs. */
void warm_start_end(struct warm_start *warm);
