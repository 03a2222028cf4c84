/* Files of stored caches; see cache_file.h. */
#include "engine/warm/cache_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/checked_file.h"
#include "base/mem.h"
#include "object/pack/image.h"

enum {
    TEXT_MAX = 64 << 10, /* bytes of an identity or a name */
    ITEMS_MAX = 1 << 20, /* caches, handlers: none has so many */
};

/* The layout of an image is that of the memory, so its number counts as well. */
static struct checked_format format(void)
{
    return (struct checked_format){"kucache", CACHE_FILE_FORMAT << 16 | IMAGE_FORMAT};
}

void stored_caches_clear(struct stored_caches *caches)
{
    for (size_t i = 0; i < caches->count; i++) {
        free(caches->caches[i].identity);
        stored_list_clear(&caches->caches[i].list);
    }
    for (size_t i = 0; i < caches->handler_count; i++) {
        free(caches->handlers[i].script);
        free(caches->handlers[i].handler);
    }
    free(caches->caches);
    free(caches->handlers);
    free(caches->cluster);
    *caches = (struct stored_caches){0};
}

/* --- writing */

static void put_front(struct checked_out *out, const struct stored_caches *caches)
{
    checked_out_put(out, &caches->saved_us, sizeof caches->saved_us);
    checked_out_str(out, str_of(caches->cluster));
    checked_out_u32(out, (uint32_t)caches->handler_count);
    for (size_t i = 0; i < caches->handler_count; i++) {
        checked_out_str(out, str_of(caches->handlers[i].script));
        checked_out_str(out, str_of(caches->handlers[i].handler));
    }
    checked_out_u32(out, (uint32_t)caches->count);
    for (size_t i = 0; i < caches->count; i++) {
        checked_out_str(out, str_of(caches->caches[i].identity));
        checked_out_str(out, str_of(caches->caches[i].list.version));
    }
}

static bool write_to(int fd, const struct stored_caches *caches, const struct pool *pool, struct err *err)
{
    const struct checked_format of = format();
    struct checked_out *out = checked_out_new(fd, &of);
    struct image_group *groups = xcalloc(caches->count + 1, sizeof *groups);
    put_front(out, caches);
    for (size_t i = 0; i < caches->count; i++)
        groups[i] = (struct image_group){caches->caches[i].list.objects, caches->caches[i].list.count};
    image_save(pool, groups, caches->count, out);
    free(groups);
    return checked_out_end(out, err);
}

/* Makes the new name last, as a directory has a cache of its own. */
static void sync_folder(const char *path)
{
    char *copy = xstrdup(path);
    int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(copy);
}

bool cache_file_write(const char *path, const struct stored_caches *caches, const struct pool *pool,
                      struct err *err)
{
    char *fresh = xasprintf("%s.new", path);
    unlink(fresh); /* of a run that was killed */
    int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool ok = fd >= 0 ? write_to(fd, caches, pool, err) : err_set(err, ERR_IO, "%s", strerror(errno));
    if (fd >= 0) close(fd);
    if (ok && rename(fresh, path) != 0) ok = err_set(err, ERR_IO, "%s", strerror(errno));
    if (ok) sync_folder(path);
    if (!ok) {
        err_wrap(err, "%s", path);
        unlink(fresh);
    }
    free(fresh);
    return ok;
}

/* --- reading */

static bool read_handlers(struct checked_in *in, struct stored_caches *caches)
{
    uint32_t count;
    if (!checked_in_u32(in, &count) || count > ITEMS_MAX) return false;
    caches->handlers = xcalloc((size_t)count + 1, sizeof *caches->handlers);
    while (caches->handler_count < count) {
        struct stored_handler *handler = &caches->handlers[caches->handler_count++];
        if (!(handler->script = checked_in_str(in, TEXT_MAX))) return false;
        if (!(handler->handler = checked_in_str(in, TEXT_MAX))) return false;
    }
    return true;
}

static bool read_caches(struct checked_in *in, struct stored_caches *caches)
{
    uint32_t count;
    if (!checked_in_u32(in, &count) || count > ITEMS_MAX) return false;
    caches->caches = xcalloc((size_t)count + 1, sizeof *caches->caches);
    while (caches->count < count) {
        struct stored_cache *cache = &caches->caches[caches->count++];
        cache->list.saved_us = caches->saved_us;
        if (!(cache->identity = checked_in_str(in, TEXT_MAX))) return false;
        if (!(cache->list.version = checked_in_str(in, TEXT_MAX))) return false;
    }
    return true;
}

static struct image *read_all(struct checked_in *in, struct stored_caches *caches)
{
    if (!checked_in_get(in, &caches->saved_us, sizeof caches->saved_us)) return NULL;
    if (!(caches->cluster = checked_in_str(in, TEXT_MAX))) return NULL;
    return read_handlers(in, caches) && read_caches(in, caches) ? image_read(in, caches->count) : NULL;
}

static struct pool *restore(struct image *image, struct stored_caches *caches, struct err *err)
{
    struct image_group *groups = xcalloc(caches->count + 1, sizeof *groups);
    struct pool *pool = image_restore(image, NULL, groups, err);
    for (size_t i = 0; pool && i < caches->count; i++) {
        caches->caches[i].list.objects = groups[i].objects;
        caches->caches[i].list.count = groups[i].count;
    }
    free(groups);
    return pool;
}

struct pool *cache_file_read(const char *path, struct stored_caches *caches, struct err *err)
{
    const struct checked_format of = format();
    struct pool *pool = NULL;
    *caches = (struct stored_caches){0};
    struct checked_in *in = checked_in_open(path, &of, err);
    if (!in) return NULL;
    struct image *image = read_all(in, caches);
    if (checked_in_end(in, err) && image) {
        pool = restore(image, caches, err);
        if (!pool) err_wrap(err, "%s", path);
    } else {
        image_free(image);
    }
    checked_in_free(in);
    if (!pool) stored_caches_clear(caches);
    return pool;
}
