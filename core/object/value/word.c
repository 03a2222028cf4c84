/* Walking over the blobs of a node; see word.h. */
#include "object/value/word.h"

#include "base/must.h"
#include "object/value/dict.h"

size_t blob_words(uint32_t header)
{
    uint32_t payload = blob_payload(header);
    switch (blob_kind(header)) {
    case BLOB_MAP_SHAPED: return 1 + shape_key_count(payload);
    case BLOB_MAP_OWN: return 1 + 2 * (size_t)payload;
    case BLOB_ARRAY: return 1 + (size_t)payload;
    case BLOB_STR: return 1 + words_for(payload);
    case BLOB_INT64:
    case BLOB_UINT64:
    case BLOB_DOUBLE: return 3;
    case BLOB_TIME:
    case BLOB_DEC:
    case BLOB_IPV4: return 2;
    case BLOB_UUID: return 5;
    case BLOB_HEX64: return 9 + words_for(payload);
    }
    must(!"a blob");
    return 0;
}

/* Calls `fn` for the references among `count` words. */
static void each_ref(const uint32_t *word, size_t count, void (*fn)(void *ctx, uint32_t granule), void *ctx)
{
    for (size_t i = 0; i < count; i++) {
        if (word_tag(word[i]) == TAG_REF) fn(ctx, word_payload(word[i]));
    }
}

void words_each_ref(const uint32_t *words, size_t size, void (*fn)(void *ctx, uint32_t granule), void *ctx)
{
    for (size_t at = 0; at < size;) {
        uint32_t header = words[at];
        size_t blob = blob_words(header);
        if (blob_kind(header) <= BLOB_ARRAY) each_ref(words + at + 1, blob - 1, fn, ctx);
        at += blob;
    }
}
