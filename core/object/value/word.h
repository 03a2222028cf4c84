/* The words and blobs that packed objects are made of (docs/dev/adr/0001-object-format.md).
 * Owner: nobody; these are rules about bytes. May be used anywhere inside core/object, and nowhere else.
 *
 * A word is 4 bytes: 3 bits of tag, 29 bits of payload. A blob is a header word (4 bits of kind, 28 bits of
 * payload) and what follows it. Blobs stand in post-order: children before their container, the top one last.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/str.h"
#include "object/value/value.h"

enum word_tag {
    TAG_LOCAL,  /* a blob of the same node: distance in words, backwards from the container's header */
    TAG_REF,    /* an interned node: its place in the region, in granules */
    TAG_INT,    /* 29-bit signed integer */
    TAG_STR3,   /* a string of 0-3 bytes: length in bits 3-4, bytes in bits 8-31 */
    TAG_SIMPLE, /* enum word_simple */
    TAG_KEY,    /* a string that is a key of the dictionary */
};

enum word_simple { SIMPLE_NULL, SIMPLE_FALSE, SIMPLE_TRUE, SIMPLE_EMPTY_MAP, SIMPLE_EMPTY_ARRAY };

enum blob_kind {
    BLOB_MAP_SHAPED, /* payload: shape; one value word for each of its keys */
    BLOB_MAP_OWN,    /* payload: count; pairs of key word and value word */
    BLOB_ARRAY,      /* payload: count; value words */
    BLOB_STR,        /* payload: length; bytes, zeros up to the next word */
    BLOB_INT64,      /* two words, low half first */
    BLOB_UINT64,     /* the same, above INT64_MAX */
    BLOB_DOUBLE,     /* the same */
    BLOB_TIME,  /* RFC 3339 in UTC: seconds in one word; payload: 0, or 1 + microseconds with six digits */
    BLOB_UUID,  /* lower case: four words */
    BLOB_HEX64, /* payload: length of the prefix; 64 lower-case hex digits in eight words; the prefix's bytes
                 */
    BLOB_DEC,   /* decimal digits, no leading zero, below 2^60: upper 28 bits in the payload, then one word */
    BLOB_IPV4,  /* dotted, no leading zeros: one word, the first number lowest */
};

enum {
    WORD_INT_MAX = (1 << 28) - 1,
    WORD_INT_MIN = -(1 << 28),
    BLOB_PAYLOAD_MAX = (1 << 28) - 1,
    GRANULE_BYTES = 16, /* what TAG_REF counts in */
    REGION_SHIFT = 33,  /* a pool's region: 8 GiB, aligned to its size */
};

/* Interned subtree. `words` ends with the top container, whose header is words[top]. */
struct node {
    uint32_t count;        /* references from nodes and roots; the pool's thread only */
    uint32_t size : 30;    /* words */
    uint32_t is_plain : 1; /* no word refers to another node */
    uint32_t has_text : 1; /* the pool's text_cache may have it */
    uint32_t top;
    uint32_t words[];
};

static inline uint32_t word_make(enum word_tag tag, uint32_t payload)
{
    return payload << 3 | tag;
}

static inline enum word_tag word_tag(uint32_t word)
{
    return (enum word_tag)(word & 7);
}

static inline uint32_t word_payload(uint32_t word)
{
    return word >> 3;
}

static inline uint32_t word_int(int32_t i)
{
    return (uint32_t)i << 3 | TAG_INT;
}

static inline uint32_t word_str3(struct str s)
{
    uint32_t word = TAG_STR3 | (uint32_t)s.n << 3;
    for (size_t i = 0; i < s.n; i++) word |= (uint32_t)(uint8_t)s.p[i] << (8 + 8 * i);
    return word;
}

static inline uint32_t blob_header(enum blob_kind kind, uint32_t payload)
{
    return payload << 4 | kind;
}

static inline enum blob_kind blob_kind(uint32_t header)
{
    return (enum blob_kind)(header & 15);
}

static inline uint32_t blob_payload(uint32_t header)
{
    return header >> 4;
}

/* Words that `bytes` take. */
static inline size_t words_for(size_t bytes)
{
    return (bytes + 3) / 4;
}

/* Returns the first byte of the region that contains `at`. */
static inline char *region_of(const void *at)
{
    return (char *)((uintptr_t)at & ~(((uintptr_t)1 << REGION_SHIFT) - 1));
}

static inline void *region_at(const void *region, uint32_t granule)
{
    return (char *)(uintptr_t)region + (size_t)granule * GRANULE_BYTES;
}

static inline uint32_t granule_of(const void *at)
{
    return (uint32_t)(((uintptr_t)at & (((uintptr_t)1 << REGION_SHIFT) - 1)) / GRANULE_BYTES);
}

/* Returns the value of `word` in the container whose header is at `header`. */
static inline struct value word_value(const uint32_t *header, uint32_t word)
{
    const uint32_t *at;
    if (word_tag(word) == TAG_LOCAL) {
        at = header - word_payload(word);
    } else if (word_tag(word) == TAG_REF) {
        const struct node *node = region_at(region_of(header), word_payload(word));
        at = node->words + node->top;
    } else {
        return (struct value){NULL, word};
    }
    return (struct value){at, *at};
}

/* Prefetches the blob that `word` of this container refers to. */
static inline void word_prefetch(const uint32_t *header, uint32_t word)
{
    if (word_tag(word) == TAG_LOCAL) __builtin_prefetch(header - word_payload(word));
    if (word_tag(word) == TAG_REF) __builtin_prefetch(region_at(region_of(header), word_payload(word)));
}

/* Words of a blob with this header, the header included. */
size_t blob_words(uint32_t header);

/* Calls `fn` for the granule of each TAG_REF among the blobs in `words`. */
void words_each_ref(const uint32_t *words, size_t size, void (*fn)(void *ctx, uint32_t granule), void *ctx);
/* Replaces it by what `fn` returns. */
void words_replace_refs(uint32_t *words, size_t size, uint32_t (*fn)(void *ctx, uint32_t granule), void *ctx);
