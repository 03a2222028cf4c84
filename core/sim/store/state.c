/* Objects in a file; see state.h. What is packed are lines: a JSON object for each resource, with the number
 * of its objects, and each of them on a line of its own. CustomResourceDefinitions come first: they tell what
 * the others are. */
#include "sim/store/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zstd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/checked_file.h"
#include "base/mem.h"
#include "base/must.h"
#include "sim/object/crd.h"
#include "sim/store/effects.h"
#include "sim/text/tree.h"

enum { LEVEL = 1, CHUNK = 256 << 10 };

static const struct checked_format format = {"KUBESIM", 1};

struct kept_resource {
    const struct sim_kind *kind;
    struct omap *map;
};

struct sim_state {
    uint64_t version;
    struct kept_resource *kept;
    size_t count;
};

struct sim_state *sim_state_take(struct sim_store *store)
{
    struct sim_state *state = NEW(struct sim_state);
    sim_store_lock(store);
    state->version = store->version;
    for (struct sim_resource *r = store->resources; r; r = r->next)
        if (!r->gone && r->map)
            *array_add(state->kept, state->count) = (struct kept_resource){r->kind, omap_ref(r->map)};
    sim_store_unlock(store);
    return state;
}

uint64_t sim_state_version(const struct sim_state *state)
{
    return state->version;
}

void sim_state_free(struct sim_state *state, struct sim_store *store)
{
    sim_store_lock(store);
    for (size_t i = 0; i < state->count; i++) omap_unref(state->kept[i].map);
    sim_store_unlock(store);
    free(state->kept);
    free(state);
}

/* --- writing */

struct state_packer {
    struct checked_out *out;
    ZSTD_CCtx *zstd;
    struct buf lines, packed;
};

/* Packs the lines so far; with `end`, completes the frame. */
static void pack(struct state_packer *packer, ZSTD_EndDirective end)
{
    ZSTD_inBuffer in = {packer->lines.data, packer->lines.len, 0};
    size_t left = 1;
    while (end == ZSTD_e_end ? left > 0 : in.pos < in.size) {
        packer->packed.len = 0;
        ZSTD_outBuffer out = {buf_reserve(&packer->packed, CHUNK), CHUNK, 0};
        left = ZSTD_compressStream2(packer->zstd, &out, &in, end);
        must(!ZSTD_isError(left));
        if (out.pos) checked_out_str(packer->out, (struct str){out.dst, out.pos});
    }
    packer->lines.len = 0;
}

static void put_kept(struct state_packer *packer, const struct kept_resource *kept)
{
    struct omap_cursor cursor;
    buf_printf(&packer->lines, "{\"group\":\"%s\",\"version\":\"%s\",\"plural\":\"%s\",\"count\":%zu}\n",
               kept->kind->group, kept->kind->version, kept->kind->plural, omap_count(kept->map));
    omap_seek(&cursor, kept->map, "");
    for (const struct sim_object *object; (object = omap_next(&cursor));) {
        buf_append(&packer->lines, object->text, object->len);
        buf_putc(&packer->lines, '\n');
        if (packer->lines.len > CHUNK) pack(packer, ZSTD_e_continue);
    }
}

static bool write_to(int fd, const struct sim_state *state, struct err *err)
{
    struct state_packer packer = {.out = checked_out_new(fd, &format), .zstd = ZSTD_createCCtx()};
    must(packer.zstd);
    ZSTD_CCtx_setParameter(packer.zstd, ZSTD_c_compressionLevel, LEVEL);
    buf_printf(&packer.lines, "{\"version\":%llu}\n", (unsigned long long)state->version);
    for (int crds = 1; crds >= 0; crds--)
        for (size_t i = 0; i < state->count; i++)
            if (sim_is_crd(state->kept[i].kind) == (crds == 1)) put_kept(&packer, &state->kept[i]);
    pack(&packer, ZSTD_e_end);
    checked_out_str(packer.out, (struct str){"", 0});
    bool ok = checked_out_end(packer.out, err);
    ZSTD_freeCCtx(packer.zstd);
    buf_clear(&packer.lines);
    buf_clear(&packer.packed);
    return ok;
}

bool sim_state_write(const struct sim_state *state, const char *path, struct err *err)
{
    char *fresh = xasprintf("%s.new", path);
    unlink(fresh); /* of a run that was killed */
    int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool ok = fd >= 0 ? write_to(fd, state, err) : err_set(err, ERR_IO, "%s", strerror(errno));
    if (fd >= 0) close(fd);
    if (ok && rename(fresh, path) != 0) ok = err_set(err, ERR_IO, "%s", strerror(errno));
    if (!ok) {
        err_wrap(err, "%s", path);
        unlink(fresh);
    }
    free(fresh);
    return ok;
}

/* --- reading */

struct state_unpacker {
    struct sim_api *api;
    ZSTD_DCtx *zstd;
    struct str packed;
    struct buf lines;
    size_t at; /* next line */
};

/* Returns the next line, borrowed until the next call; false at the end of what is packed. */
static bool next_line(struct state_unpacker *u, struct str *line)
{
    for (;;) {
        char *from = u->lines.data + u->at, *end = memchr(from, '\n', u->lines.len - u->at);
        if (end) {
            *line = (struct str){from, (size_t)(end - from)};
            u->at += line->n + 1;
            return true;
        }
        memmove(u->lines.data, from, u->lines.len - u->at);
        u->lines.len -= u->at;
        u->at = 0;
        ZSTD_inBuffer in = {u->packed.p, u->packed.n, 0};
        ZSTD_outBuffer out = {buf_reserve(&u->lines, CHUNK), CHUNK, 0};
        size_t left = ZSTD_decompressStream(u->zstd, &out, &in);
        if (ZSTD_isError(left) || (!out.pos && !in.pos)) return false;
        u->lines.len += out.pos;
        u->packed = (struct str){u->packed.p + in.pos, u->packed.n - in.pos};
    }
}

static bool refuse(struct err *err)
{
    return err_set(err, ERR_PARSE, "not a state of kubelua sim");
}

/* Calls the function with each object, whatever it writes. */
static void for_each(struct sim_api *api, const struct sim_served *served,
                     void (*fn)(struct sim_api *api, const struct sim_served *served, const json_t *object))
{
    struct omap_cursor cursor;
    sim_store_lock(api->store);
    struct omap *map = omap_ref(served->resource->map);
    sim_store_unlock(api->store);
    omap_seek(&cursor, map, "");
    for (const struct sim_object *object; (object = omap_next(&cursor));) {
        json_t *whole = sim_served_json(served, object);
        fn(api, served, whole);
        json_decref(whole);
    }
    sim_store_lock(api->store);
    omap_unref(map);
    sim_store_unlock(api->store);
}

/* Goes on with the end of a definition, or of a namespace, whose content was just being deleted. */
static void go_on(struct sim_api *api, const struct sim_served *served, const json_t *object)
{
    if (*sim_text_at(object, "metadata.deletionTimestamp")) sim_effects_deleting(api, served, object);
}

/* Pods that were about to end are ended soon. */
static void end_deleted(struct sim_api *api, const struct sim_served *served, const struct sim_object *object)
{
    static const char mark[] = "\"deletionTimestamp\":";
    if (served->kind->graceful && api->terminating &&
        memmem(object->text + object->metadata.at, object->metadata.len, mark, sizeof mark - 1))
        api->terminating(api->ctx, served, object, 0);
}

/* Reads `count` objects in the order of their keys; returns how many there were. */
static size_t read_objects(struct state_unpacker *u, const struct sim_served *served,
                           struct sim_object **objects, size_t count)
{
    struct str line;
    size_t n = 0;
    while (n < count && next_line(u, &line) && (objects[n] = sim_object_from_text(line))) n++;
    for (size_t i = 0; i < n; i++) end_deleted(u->api, served, objects[i]);
    return n;
}

static bool fill(struct state_unpacker *u, struct sim_served *served, size_t count, struct err *err)
{
    enum { OBJECTS_MAX = 100 << 20 };
    if (count > OBJECTS_MAX || served->resource->map) return refuse(err);
    struct sim_object **objects = xcalloc(count + 1, sizeof *objects);
    size_t n = read_objects(u, served, objects, count);
    sim_store_lock(u->api->store);
    if (n == count)
        sim_store_fill(u->api->store, served->resource, objects, n);
    else
        for (size_t i = 0; i < n; i++) sim_object_unref(objects[i]);
    sim_store_unlock(u->api->store);
    free(objects);
    if (n < count) return refuse(err);
    if (sim_is_crd(served->kind))
        for_each(u->api, served, sim_effects_stored); /* what it defines is served */
    return true;
}

static bool read_resource(struct state_unpacker *u, const json_t *head, struct err *err)
{
    const char *group = sim_text_at(head, "group"), *version = sim_text_at(head, "version");
    const char *plural = sim_text_at(head, "plural");
    sim_store_lock(u->api->store);
    struct sim_served *served = sim_store_find(u->api->store, group, version, plural);
    sim_store_unlock(u->api->store);
    if (!served)
        return err_set(err, ERR_PARSE, "%s of %s%s%s are not served: the file is of a newer kubelua", plural,
                       group, *group ? "/" : "", version);
    return fill(u, served, (size_t)sim_int_at(head, "count", 0), err);
}

/* Versions go on from where they were, even if the clock was set back. */
static bool read_version(struct state_unpacker *u, struct err *err)
{
    struct str line;
    json_t *head = next_line(u, &line) ? json_loadb(line.p, line.n, 0, NULL) : NULL;
    uint64_t version = (uint64_t)sim_int_at(head, "version", 0);
    json_decref(head);
    if (!version) return refuse(err);
    sim_store_lock(u->api->store);
    if (u->api->store->version <= version) u->api->store->version = version + 1;
    sim_store_unlock(u->api->store);
    return true;
}

static bool read_packed(struct sim_api *api, struct str packed, struct err *err)
{
    struct state_unpacker u = {.api = api, .zstd = ZSTD_createDCtx(), .packed = packed};
    struct str line;
    must(u.zstd);
    buf_reserve(&u.lines, CHUNK);
    bool ok = read_version(&u, err);
    while (ok && next_line(&u, &line)) {
        json_t *head = json_loadb(line.p, line.n, 0, NULL);
        ok = json_is_object(head) ? read_resource(&u, head, err) : refuse(err);
        json_decref(head);
    }
    ZSTD_freeDCtx(u.zstd);
    buf_clear(&u.lines);
    return ok;
}

/* Nothing of a checked file is used before all of it was read. */
static bool read_chunks(struct checked_in *in, struct buf *packed, struct err *err)
{
    uint32_t n;
    bool ok = true;
    while (ok && checked_in_u32(in, &n) && n > 0) {
        ok = n <= CHUNK && checked_in_get(in, buf_reserve(packed, n), n);
        if (ok) packed->len += n;
    }
    return checked_in_end(in, err) && (ok || refuse(err));
}

bool sim_state_read(struct sim_api *api, const char *path, bool *found, struct err *err)
{
    struct buf packed = {0};
    struct checked_in *in = checked_in_open(path, &format, err);
    *found = in != NULL;
    if (!in && err->code != ERR_NOT_FOUND) return false;
    if (!in) {
        err_clear(err); /* a first start is no error */
        return true;
    }
    bool ok = read_chunks(in, &packed, err);
    checked_in_free(in);
    if (ok && !read_packed(api, buf_slice(&packed), err)) ok = err_wrap(err, "%s", path);
    buf_clear(&packed);
    if (!ok) return false;
    for_each(api, sim_store_found(api->store, "apiextensions.k8s.io", "v1", "customresourcedefinitions"),
             go_on);
    for_each(api, sim_store_found(api->store, "", "v1", "namespaces"), go_on);
    return true;
}
