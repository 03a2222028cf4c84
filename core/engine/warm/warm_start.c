/* Start from stored caches; see warm_start.h. */
#include "engine/warm/warm_start.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"

struct warm_start {
    struct warm_options options;
    char *path; /* NULL: the directory is another engine's */
    int lock;   /* -1: likewise */
    struct pool *pool;
    struct stored_caches stored;
    bool decided, same;
};

/* --- the directory */

static bool make_folder(const char *dir, struct err *err)
{
    if (mkdir(dir, 0700) == 0 || errno == EEXIST) return true;
    return err_set(err, ERR_IO, "cannot make the directory %s: %s", dir, strerror(errno));
}

/* Takes the lock file; `*taken`: another engine has it. */
static bool lock_folder(struct warm_start *warm, bool *taken, struct err *err)
{
    char *path = xasprintf("%s/lock", warm->options.dir);
    warm->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool ok = warm->lock >= 0;
    if (!ok) err_set(err, ERR_IO, "cannot write %s: %s", path, strerror(errno));
    *taken = ok && flock(warm->lock, LOCK_EX | LOCK_NB) != 0;
    if (*taken) {
        close(warm->lock);
        warm->lock = -1;
    }
    free(path);
    return ok;
}

/* --- the file */

static size_t count_objects(const struct stored_caches *stored)
{
    size_t count = 0;
    for (size_t i = 0; i < stored->count; i++) count += stored->caches[i].list.count;
    return count;
}

static void read_file(struct warm_start *warm)
{
    struct err err;
    warm->pool = cache_file_read(warm->path, &warm->stored, &err);
    if (!warm->pool && err.code != ERR_NOT_FOUND)
        log_warn("Starting without the stored caches", F("err", err.text));
    warm->decided = !warm->pool;
}

struct warm_start *warm_start_new(const struct warm_options *options, struct err *err)
{
    struct warm_start *warm = NEW(struct warm_start);
    bool taken = false;
    warm->options = *options;
    warm->lock = -1;
    warm->decided = true;
    if (!make_folder(options->dir, err) || !lock_folder(warm, &taken, err)) {
        warm_start_free(warm);
        return NULL;
    }
    if (taken) {
        log_warn("Another engine uses the cache directory, caches are neither read nor saved",
                 F("directory", options->dir));
        return warm;
    }
    warm->path = xasprintf("%s/caches", options->dir);
    read_file(warm);
    return warm;
}

void warm_start_free(struct warm_start *warm)
{
    if (!warm) return;
    stored_caches_clear(&warm->stored);
    if (warm->pool) pool_free(warm->pool);
    if (warm->lock >= 0) close(warm->lock);
    free(warm->path);
    free(warm);
}

const struct warm_options *warm_start_options(const struct warm_start *warm)
{
    return &warm->options;
}

const char *warm_start_path(const struct warm_start *warm)
{
    return warm->path;
}

/* --- the caches */

struct pool *warm_start_pool(const struct warm_start *warm)
{
    return warm->pool;
}

void warm_start_take_pool(struct warm_start *warm)
{
    warm->pool = NULL;
}

bool warm_start_is_undecided(const struct warm_start *warm)
{
    return !warm->decided;
}

void warm_start_decide(struct warm_start *warm, const char *cluster, const char *why)
{
    if (warm->decided) return;
    warm->decided = true;
    warm->same = *cluster && strcmp(cluster, warm->stored.cluster) == 0;
    if (warm->same)
        log_info("Starting from the stored caches", F("file", warm->path),
                 FI("objects", count_objects(&warm->stored)), FI("informers", warm->stored.count));
    else if (*cluster)
        log_warn("Starting without the stored caches, they are of another cluster", F("file", warm->path),
                 F("stored", warm->stored.cluster), F("cluster", cluster));
    else
        log_warn("Starting without the stored caches, the cluster cannot be identified",
                 F("file", warm->path), F("err", why));
    if (!warm->same) stored_caches_clear(&warm->stored);
}

bool warm_start_take(void *ctx, const char *identity, struct stored_list *list)
{
    struct warm_start *warm = ctx;
    if (!warm->same) return false;
    for (size_t i = 0; i < warm->stored.count; i++) {
        struct stored_cache *cache = &warm->stored.caches[i];
        if (!cache->list.version || strcmp(cache->identity, identity) != 0) continue;
        *list = cache->list;
        cache->list = (struct stored_list){0};
        return true;
    }
    return false;
}

bool warm_start_knew_handler(void *ctx, const char *script, const char *handler)
{
    const struct warm_start *warm = ctx;
    for (size_t i = 0; i < warm->stored.handler_count; i++)
        if (strcmp(warm->stored.handlers[i].script, script) == 0 &&
            strcmp(warm->stored.handlers[i].handler, handler) == 0)
            return true;
    return false;
}

void warm_start_end(struct warm_start *warm)
{
    for (size_t i = 0; i < warm->stored.count; i++)
        if (warm->stored.caches[i].list.version)
            log_v(1, "Stored cache is not used by any script",
                  F("informer", warm->stored.caches[i].identity));
    warm->decided = true;
    stored_caches_clear(&warm->stored);
}
