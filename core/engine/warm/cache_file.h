/* File of stored caches: the objects of all informers of a run, with the versions from which their watches go
 * on, and the handlers that were done with them. A file is complete or refused (base/checked_file.h).
 * Owner: the caller. Blocks on the disk. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "informer/reflect/reflector.h"
#include "object/pack/pool.h"

enum { CACHE_FILE_FORMAT = 1 };

struct stored_cache {
    char *identity; /* of the informer, as informer_key_identify */
    struct stored_list list;
};

struct stored_handler {
    char *script, *handler;
};

struct stored_caches {
    char *cluster;    /* identity of the cluster (cluster_id.h) */
    int64_t saved_us; /* wall time */
    struct stored_cache *caches;
    size_t count;
    struct stored_handler *handlers;
    size_t handler_count;
};

/* Writes everything to `path` by way of a new file beside it, which then takes its place; all objects are of
 * `pool`. The file is for its owner alone. */
bool cache_file_write(const char *path, const struct stored_caches *caches, const struct pool *pool,
                      struct err *err);
/* Reads a file and makes its pool, at the start, before this process has packed any object. Returns NULL, and
 * leaves `caches` empty: ERR_NOT_FOUND, or an error that begins with the path. */
struct pool *cache_file_read(const char *path, struct stored_caches *caches, struct err *err);
void stored_caches_clear(struct stored_caches *caches);
