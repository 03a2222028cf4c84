/* Values from the leaves upwards; see encode.h. */
#include "object/encode.h"

#include <stdlib.h>

#include "base/mem.h"
#include "object/dedup.h"
#include "object/dict.h"
#include "object/intern.h"
#include "object/strform.h"

enum { KEEP_WORDS = 1 << 18 }; /* an area larger than this is given up when small objects follow */

void encoder_clear(struct encoder *e)
{
    encoder_reset(e);
    free(e->area);
    free(e->stack);
    free(e->fresh);
    *e = (struct encoder){0};
}

void encoder_reset(struct encoder *e)
{
    while (e->fresh_count > 0) node_release(e->pool, e->fresh[--e->fresh_count]);
    if (e->area_cap > KEEP_WORDS && e->used < KEEP_WORDS) {
        e->area_cap = KEEP_WORDS;
        e->area = xrealloc(e->area, e->area_cap * sizeof *e->area);
    }
    e->used = e->depth = 0;
}

static bool grow(struct encoder *e, size_t need, struct err *err)
{
    if (need > AREA_WORDS_MAX) {
        return err_set(err, ERR_LIMIT, "packed form of more than %d MiB", (AREA_WORDS_MAX >> 20) * 4);
    }
    while (e->area_cap < need) e->area_cap = e->area_cap ? e->area_cap * 2 : 4096;
    e->area = xrealloc(e->area, e->area_cap * sizeof *e->area);
    return true;
}

/* Room for `words` more in the area. */
static inline bool room(struct encoder *e, size_t words, struct err *err)
{
    return e->used + words <= e->area_cap || grow(e, e->used + words, err);
}

static struct pending *push(struct encoder *e)
{
    if (e->depth == e->stack_cap) {
        e->stack_cap = e->stack_cap ? e->stack_cap * 2 : 256;
        e->stack = xrealloc(e->stack, e->stack_cap * sizeof *e->stack);
    }
    return &e->stack[e->depth++];
}

/* Makes what stands in the area from `start` on a node, if it is large enough. */
static bool settle(struct encoder *e, size_t start, uint32_t *word, struct err *err)
{
    size_t size = e->used - start;
    if (size < INTERN_WORDS) return true;
    bool fresh;
    uint32_t granule = node_intern(e->pool, e->area + start, size, word_payload(*word) - start, &fresh);
    if (!granule) return err_set(err, ERR_LIMIT, "the object pool is full (at most 8 GiB)");
    if (fresh) {
        if (e->fresh_count == e->fresh_cap) {
            e->fresh_cap = e->fresh_cap ? e->fresh_cap * 2 : 64;
            e->fresh = xrealloc(e->fresh, e->fresh_cap * sizeof *e->fresh);
        }
        e->fresh[e->fresh_count++] = granule;
    }
    e->used = start;
    *word = word_make(TAG_REF, granule);
    return true;
}

bool encode_string(struct encoder *e, struct str s, uint32_t *word, struct err *err)
{
    if (s.n <= 3) {
        *word = word_str3(s);
        return true;
    }
    if (!room(e, strform_room(s.n), err)) return false;
    size_t start = e->used;
    *word = word_make(TAG_LOCAL, (uint32_t)start);
    e->used += strform_encode(s, e->area + start);
    return settle(e, start, word, err);
}

static bool encode_wide(struct encoder *e, enum blob_kind kind, uint64_t bits, uint32_t *word,
                        struct err *err)
{
    if (!room(e, 3, err)) return false;
    uint32_t *blob = e->area + e->used;
    blob[0] = blob_header(kind, 0);
    blob[1] = (uint32_t)bits;
    blob[2] = (uint32_t)(bits >> 32);
    *word = word_make(TAG_LOCAL, (uint32_t)e->used);
    e->used += 3;
    return true;
}

bool encode_int(struct encoder *e, int64_t i, uint32_t *word, struct err *err)
{
    if (i < WORD_INT_MIN || i > WORD_INT_MAX) return encode_wide(e, BLOB_INT64, (uint64_t)i, word, err);
    *word = word_int((int32_t)i);
    return true;
}

bool encode_uint(struct encoder *e, uint64_t u, uint32_t *word, struct err *err)
{
    return u <= INT64_MAX ? encode_int(e, (int64_t)u, word, err) : encode_wide(e, BLOB_UINT64, u, word, err);
}

bool encode_double(struct encoder *e, uint64_t bits, uint32_t *word, struct err *err)
{
    return encode_wide(e, BLOB_DOUBLE, bits, word, err);
}

struct open encode_open(const struct encoder *e)
{
    return (struct open){e->depth, e->used};
}

bool encode_key(struct encoder *e, struct str key, struct err *err)
{
    struct pending *entry = push(e);
    entry->start = (uint32_t)e->used;
    uint32_t id = dict_intern(key);
    if (id == DICT_NONE) return encode_string(e, key, &entry->key, err);
    entry->key = word_make(TAG_KEY, id);
    return true;
}

void encode_value(struct encoder *e, uint32_t word)
{
    e->stack[e->depth - 1].value = word;
}

void encode_item(struct encoder *e, uint32_t word)
{
    push(e)->value = word;
}

/* A pending word as it stands in the container whose header is at `header`. */
static inline uint32_t placed(uint32_t word, size_t header)
{
    return word_tag(word) == TAG_LOCAL ? word_make(TAG_LOCAL, (uint32_t)header - word_payload(word)) : word;
}

/* The shape of the entries, or SHAPE_NONE when they have to carry their keys. */
static uint32_t shape_of(const struct pending *entry, size_t count)
{
    uint32_t keys[SHAPE_KEYS_MAX];
    if (count > SHAPE_KEYS_MAX) return SHAPE_NONE;
    for (size_t i = 0; i < count; i++) {
        if (word_tag(entry[i].key) != TAG_KEY) return SHAPE_NONE;
        keys[i] = word_payload(entry[i].key);
    }
    return shape_intern(keys, count);
}

static bool write_shaped(struct encoder *e, uint32_t shape, const struct pending *entry, size_t count,
                         struct err *err)
{
    if (!room(e, 1 + count, err)) return false;
    size_t header = e->used;
    uint32_t *to = e->area + header;
    *to++ = blob_header(BLOB_MAP_SHAPED, shape);
    for (size_t i = 0; i < count; i++) *to++ = placed(entry[i].value, header);
    e->used += 1 + count;
    return true;
}

static bool write_own(struct encoder *e, const struct pending *entry, size_t count, struct err *err)
{
    if (!room(e, 1 + 2 * count, err)) return false;
    size_t header = e->used;
    uint32_t *to = e->area + header;
    *to++ = blob_header(BLOB_MAP_OWN, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        *to++ = placed(entry[i].key, header);
        *to++ = placed(entry[i].value, header);
    }
    e->used += 1 + 2 * count;
    return true;
}

static bool write_map(struct encoder *e, struct pending *entry, size_t count, uint32_t *word, struct err *err)
{
    uint32_t shape = shape_of(entry, count);
    if (shape == SHAPE_NONE && dedup(e, entry, &count)) shape = shape_of(entry, count);
    bool done =
        shape != SHAPE_NONE ? write_shaped(e, shape, entry, count, err) : write_own(e, entry, count, err);
    size_t size = shape != SHAPE_NONE ? 1 + count : 1 + 2 * count;
    *word = word_make(TAG_LOCAL, (uint32_t)(e->used - size));
    return done;
}

bool encode_map(struct encoder *e, struct open open, bool intern, uint32_t *word, struct err *err)
{
    size_t count = e->depth - open.depth;
    e->depth = open.depth;
    *word = word_make(TAG_SIMPLE, SIMPLE_EMPTY_MAP);
    if (count == 0) return true;
    if (!write_map(e, e->stack + open.depth, count, word, err)) return false;
    return intern ? settle(e, open.start, word, err) : true;
}

bool encode_array(struct encoder *e, struct open open, bool intern, uint32_t *word, struct err *err)
{
    size_t count = e->depth - open.depth, header = e->used;
    e->depth = open.depth;
    *word = word_make(TAG_SIMPLE, SIMPLE_EMPTY_ARRAY);
    if (count == 0) return true;
    if (!room(e, 1 + count, err)) return false;
    uint32_t *to = e->area + header;
    *to++ = blob_header(BLOB_ARRAY, (uint32_t)count);
    for (size_t i = 0; i < count; i++) *to++ = placed(e->stack[open.depth + i].value, header);
    e->used += 1 + count;
    *word = word_make(TAG_LOCAL, (uint32_t)header);
    return intern ? settle(e, open.start, word, err) : true;
}
