/* Values from the leaves upwards; see encode.h. */
#include "object/pack/encode.h"

#include <stdlib.h>

#include "base/array.h"
#include "object/pack/dedup.h"
#include "object/pack/intern.h"
#include "object/value/dict.h"
#include "object/value/strform.h"

enum {
    KEEP_WORDS = 1 << 18, /* of the area, between two objects */
    KEEP_PENDING = 1 << 14,
    CONSTANT_MAX = 40,
    CONSTANT_SALT = 0x55555555,
};

void encoder_clear(struct encoder *e)
{
    encoder_reset(e);
    free(e->area);
    free(e->stack);
    free(e->fresh);
    *e = (struct encoder){0};
}

/* Returns memory that one large object needed, once it is done. */
static void trim(struct encoder *e)
{
    if (e->area_cap > KEEP_WORDS) {
        e->area_cap = KEEP_WORDS;
        e->area = xrealloc(e->area, e->area_cap * sizeof *e->area);
    }
    if (e->stack_cap > KEEP_PENDING) {
        e->stack_cap = KEEP_PENDING;
        e->stack = xrealloc(e->stack, e->stack_cap * sizeof *e->stack);
    }
    if (e->fresh_cap > KEEP_PENDING) {
        e->fresh_cap = KEEP_PENDING;
        e->fresh = xrealloc(e->fresh, e->fresh_cap * sizeof *e->fresh);
    }
}

void encoder_reset(struct encoder *e)
{
    while (e->fresh_count > 0) node_release(e->pool, e->fresh[--e->fresh_count]);
    e->used = e->depth = e->unique = e->referenced = 0;
    e->moved = e->ascends = false;
    trim(e);
}

/* Without array.h: hot, and of many words at once up to a limit. */
static bool grow(struct encoder *e, size_t need, struct err *err)
{
    if (need > AREA_WORDS_MAX) {
        return err_set(err, ERR_LIMIT, "packed form exceeds %d MiB", (AREA_WORDS_MAX >> 20) * 4);
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

void encode_grow_stack(struct encoder *e)
{
    e->stack = array_double(e->stack, &e->stack_cap, sizeof *e->stack);
}

/* Moves the content of the area from `start` on to a node, if it is large enough and likely to be repeated.
 */
static bool settle(struct encoder *e, size_t start, uint32_t *word, struct err *err)
{
    size_t size = e->used - start;
    if (size < INTERN_WORDS || e->unique > start) return true;
    bool fresh;
    const struct node_draft draft = {.words = e->area + start,
                                     .size = size,
                                     .top = word_payload(*word) - start,
                                     .is_plain = e->referenced <= start};
    uint32_t granule = node_intern(e->pool, &draft, &fresh);
    if (!granule) return err_set(err, ERR_LIMIT, "the object pool is full (at most 8 GiB)");
    /* A new node has one reference, which encoder_reset releases. */
    if (fresh) {
        array_reserve(e->fresh, e->fresh_count, e->fresh_cap);
        e->fresh[e->fresh_count++] = granule;
    }
    e->used = start;
    e->referenced = start + 1;
    *word = word_make(TAG_REF, granule);
    return true;
}

/* Running, ContainersReady, FieldsV1: a capital, letters, at most two digits. In Kubernetes these are
 * constants of the API, as the names of users have no capitals. */
static bool is_constant(struct str s)
{
    if (s.p[0] < 'A' || s.p[0] > 'Z' || s.n > CONSTANT_MAX) return false;
    size_t letters = s.n;
    while (s.n - letters < 2 && s.p[letters - 1] >= '0' && s.p[letters - 1] <= '9') letters--;
    for (size_t i = 1; i < letters; i++) {
        char c = s.p[i] | 0x20;
        if (c < 'a' || c > 'z') return false;
    }
    return true;
}

/* Marks a time: a container with one is unique, so it is not worth a node. But annotations (their keys have a
 * slash) are copied from templates, with their times. */
static void mark_time(struct encoder *e, uint32_t field)
{
    if (field == DICT_NONE) return;
    struct str key = dict_text(field);
    if (!memchr(key.p, '/', key.n)) e->unique = e->used;
}

bool encode_string(struct encoder *e, struct str s, uint32_t field, uint32_t *word, struct err *err)
{
    /* Up to three bytes fit into the word itself. */
    if (s.n <= 3) {
        *word = word_str3(s);
        return true;
    }
    /* Values that many objects share are words of the dictionary, not copies. */
    if (field < KEYS_OF_FEW_VALUES || is_constant(s)) {
        uint32_t id = key_cache_intern(&e->keys, s, CONSTANT_SALT, &e->kind);
        *word = word_make(TAG_KEY, id);
        if (id != DICT_NONE) return true;
    }
    if (!room(e, strform_room(s.n), err)) return false;
    size_t start = e->used;
    *word = word_make(TAG_LOCAL, (uint32_t)start);
    e->used += strform_encode(s, e->area + start);
    if (blob_kind(e->area[start]) == BLOB_TIME) mark_time(e, field);
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

bool encode_key(struct encoder *e, struct str key, uint32_t *field, struct err *err)
{
    struct pending *entry = encode_push(e);
    entry->start = (uint32_t)e->used;
    *field = key_cache_intern(&e->keys, key, 0, &e->kind);
    if (*field == DICT_NONE) return encode_string(e, key, DICT_NONE, &entry->key, err);
    key_cache_seen(&e->keys, *field);
    entry->key = word_make(TAG_KEY, *field);
    return true;
}

bool encode_own_key(struct encoder *e, struct str key, struct err *err)
{
    struct pending *entry = encode_push(e);
    entry->start = (uint32_t)e->used;
    return encode_string(e, key, DICT_NONE, &entry->key, err);
}

/* Returns a pending word as stored in the container whose header is at `header`. */
static inline uint32_t placed(uint32_t word, size_t header)
{
    return word_tag(word) == TAG_LOCAL ? word_make(TAG_LOCAL, (uint32_t)header - word_payload(word)) : word;
}

/* Returns the shape of the entries, or SHAPE_NONE if they must store their keys. */
static uint32_t shape_of(struct encoder *e, const struct pending *entry, size_t count)
{
    uint32_t keys[SHAPE_KEYS_MAX];
    if (count == 0 || count > SHAPE_KEYS_MAX) return SHAPE_NONE;
    for (size_t i = 0; i < count; i++) {
        if (word_tag(entry[i].key) != TAG_KEY) return SHAPE_NONE;
        keys[i] = word_payload(entry[i].key);
    }
    /* A guess by few keys finds most shapes without a lookup of all. */
    uint32_t *guess = &e->shape_guess[(keys[0] * 31 + keys[count - 1] + count) % SHAPE_GUESSES];
    if (*guess && shape_key_count(*guess - 1) == count &&
        memcmp(keys, shape_keys(*guess - 1), count * sizeof *keys) == 0) {
        return *guess - 1;
    }
    uint32_t shape = shape_intern(keys, count, &e->kind);
    if (shape != SHAPE_NONE) *guess = shape + 1;
    return shape;
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
    bool ascends = e->ascends;
    uint32_t shape = shape_of(e, entry, count);
    e->ascends = false;
    enum dedup_result result = shape == SHAPE_NONE && !ascends ? dedup(e, entry, &count) : DEDUP_NOTHING;
    if (result == DEDUP_REFUSED) return false;
    if (result == DEDUP_REMOVED) {
        /* Sections refer to words by their position, which has changed, so none is kept. */
        e->moved = true;
        shape = shape_of(e, entry, count);
    }
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

bool encode_copy(struct encoder *e, const uint32_t *from, size_t words, struct err *err)
{
    if (!room(e, words, err)) return false;
    memcpy(e->area + e->used, from, words * sizeof *from);
    e->used += words;
    return true;
}
