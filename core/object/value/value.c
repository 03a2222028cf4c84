/* Cursors into packed objects; see value.h. */
#include "object/value/value.h"

#include "base/must.h"
#include "object/value/dict.h"
#include "object/value/strform.h"
#include "object/value/word.h"

const struct value value_absent = {NULL, TAG_LOCAL};

static enum value_type inline_type(uint32_t word)
{
    switch (word_tag(word)) {
    case TAG_INT: return VALUE_INT;
    case TAG_STR3:
    case TAG_KEY: return VALUE_STRING;
    case TAG_SIMPLE: break;
    default: return VALUE_ABSENT;
    }
    switch (word_payload(word)) {
    case SIMPLE_NULL: return VALUE_NULL;
    case SIMPLE_FALSE:
    case SIMPLE_TRUE: return VALUE_BOOL;
    case SIMPLE_EMPTY_MAP: return VALUE_MAP;
    case SIMPLE_EMPTY_ARRAY: return VALUE_ARRAY;
    default: return VALUE_ABSENT;
    }
}

enum value_type value_type(struct value v)
{
    static const uint8_t types[] = {
        [BLOB_MAP_SHAPED] = VALUE_MAP, [BLOB_MAP_OWN] = VALUE_MAP, [BLOB_ARRAY] = VALUE_ARRAY,
        [BLOB_STR] = VALUE_STRING,     [BLOB_INT64] = VALUE_INT,   [BLOB_UINT64] = VALUE_UINT,
        [BLOB_DOUBLE] = VALUE_DOUBLE,  [BLOB_TIME] = VALUE_STRING, [BLOB_UUID] = VALUE_STRING,
        [BLOB_HEX64] = VALUE_STRING,   [BLOB_DEC] = VALUE_STRING,  [BLOB_IPV4] = VALUE_STRING,
        [15] = VALUE_ABSENT,
    };
    return v.at ? (enum value_type)types[blob_kind(v.word)] : inline_type(v.word);
}

bool value_bool(struct value v)
{
    return !v.at && v.word == word_make(TAG_SIMPLE, SIMPLE_TRUE);
}

static uint64_t wide(const uint32_t *blob)
{
    return (uint64_t)blob[2] << 32 | blob[1];
}

int64_t value_int(struct value v)
{
    if (v.at) return blob_kind(v.word) == BLOB_INT64 ? (int64_t)wide(v.at) : 0;
    return word_tag(v.word) == TAG_INT ? (int32_t)v.word >> 3 : 0;
}

uint64_t value_uint(struct value v)
{
    if (v.at && blob_kind(v.word) == BLOB_UINT64) return wide(v.at);
    return (uint64_t)value_int(v);
}

double value_double(struct value v)
{
    if (v.at && blob_kind(v.word) == BLOB_DOUBLE) {
        uint64_t bits = wide(v.at);
        double d;
        memcpy(&d, &bits, sizeof d);
        return d;
    }
    if (v.at && blob_kind(v.word) == BLOB_UINT64) return (double)wide(v.at);
    return (double)value_int(v);
}

struct str value_str(struct value v, struct text *text)
{
    if (value_type(v) != VALUE_STRING) return (struct str){NULL, 0};
    if (v.at) return strform_text(v.at, text);
    if (word_tag(v.word) == TAG_KEY) return dict_text(word_payload(v.word));
    size_t n = v.word >> 3 & 3;
    for (size_t i = 0; i < n; i++) text->bytes[i] = (char)(v.word >> (8 + 8 * i));
    return (struct str){text->bytes, n};
}

bool value_str_is(struct value v, struct str expected)
{
    if (v.at && blob_kind(v.word) == BLOB_STR && blob_payload(v.word) != expected.n) return false;
    struct text text;
    struct str s = value_str(v, &text);
    return s.p && str_eq(s, expected);
}

size_t value_count(struct value v)
{
    if (!v.at) return 0;
    switch (blob_kind(v.word)) {
    case BLOB_MAP_SHAPED: return shape_key_count(blob_payload(v.word));
    case BLOB_MAP_OWN:
    case BLOB_ARRAY: return blob_payload(v.word);
    default: return 0;
    }
}

struct value value_item(struct value v, size_t i)
{
    if (!v.at || blob_kind(v.word) != BLOB_ARRAY || i >= blob_payload(v.word)) return value_absent;
    return word_value(v.at, v.at[1 + i]);
}

struct value value_entry(struct value v, size_t i, struct str *key, struct text *text)
{
    *key = (struct str){NULL, 0};
    if (i >= value_count(v)) return value_absent;
    switch (blob_kind(v.word)) {
    case BLOB_MAP_SHAPED:
        *key = dict_text(shape_keys(blob_payload(v.word))[i]);
        return word_value(v.at, v.at[1 + i]);
    case BLOB_MAP_OWN:
        *key = value_str(word_value(v.at, v.at[1 + 2 * i]), text);
        return word_value(v.at, v.at[2 + 2 * i]);
    default: return value_absent;
    }
}

/* Finds a field of a map with its own keys, where a key is stored by its number or, if it got one later or
 * never, by its string. */
static struct value own_field(struct value v, uint32_t key, struct str text)
{
    for (uint32_t i = 0; i < blob_payload(v.word); i++) {
        uint32_t word = v.at[1 + 2 * i];
        bool found = word_tag(word) == TAG_KEY ? word_payload(word) == key
                                               : value_str_is(word_value(v.at, word), text);
        if (found) return word_value(v.at, v.at[2 + 2 * i]);
    }
    return value_absent;
}

struct value value_field_id(struct value v, uint32_t key, struct str text)
{
    if (!v.at) return value_absent;
    if (blob_kind(v.word) == BLOB_MAP_SHAPED) {
        int slot = key == DICT_NONE ? -1 : shape_slot(blob_payload(v.word), key);
        return slot < 0 ? value_absent : word_value(v.at, v.at[1 + slot]);
    }
    if (blob_kind(v.word) != BLOB_MAP_OWN) return value_absent;
    return own_field(v, key, key == DICT_NONE ? text : dict_text(key));
}

struct value value_field(struct value v, struct str key)
{
    if (!v.at) return value_absent;
    return value_field_id(v, dict_find(key), key);
}

/* --- Walking over the blobs of a node */

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
        /* Most blobs are strings: those of a large map are thousands in a row. */
        if (blob_kind(header) == BLOB_STR) {
            at += 1 + words_for(blob_payload(header));
            continue;
        }
        size_t blob = blob_words(header);
        if (blob_kind(header) <= BLOB_ARRAY) each_ref(words + at + 1, blob - 1, fn, ctx);
        at += blob;
    }
}

void words_replace_refs(uint32_t *words, size_t size, uint32_t (*fn)(void *ctx, uint32_t granule), void *ctx)
{
    for (size_t at = 0; at < size;) {
        size_t end = at + blob_words(words[at]);
        size_t values = blob_kind(words[at]) <= BLOB_ARRAY ? end : at;
        for (size_t i = at + 1; i < values; i++)
            if (word_tag(words[i]) == TAG_REF) words[i] = word_make(TAG_REF, fn(ctx, word_payload(words[i])));
        at = end;
    }
}
