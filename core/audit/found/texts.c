/* Texts in chunks that never move; see texts.h. */
#include "audit/found/texts.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"

enum { CHUNK_BYTES = 64 << 10, TEXTS_MIN = 256 };

struct text_chunk {
    struct text_chunk *next;
    size_t used, size;
    char bytes[];
};

static char *room(struct texts *texts, size_t n)
{
    struct text_chunk *chunk = texts->chunks;
    if (!chunk || chunk->size - chunk->used < n) {
        size_t size = n > CHUNK_BYTES ? n : CHUNK_BYTES;
        chunk = xmalloc(sizeof *chunk + size);
        *chunk = (struct text_chunk){.next = texts->chunks, .size = size};
        texts->chunks = chunk;
    }
    char *place = chunk->bytes + chunk->used;
    chunk->used += n;
    return place;
}

static struct str *slot_of(const struct texts *texts, struct str text)
{
    size_t at = hash_str(text) & (texts->cap - 1);
    while (texts->slots[at].p && !str_eq(texts->slots[at], text)) at = (at + 1) & (texts->cap - 1);
    return &texts->slots[at];
}

static void grow(struct texts *texts)
{
    struct texts old = *texts;
    texts->cap = old.cap ? old.cap * 2 : TEXTS_MIN;
    texts->slots = xcalloc(texts->cap, sizeof *texts->slots);
    for (size_t i = 0; i < old.cap; i++)
        if (old.slots[i].p) *slot_of(texts, old.slots[i]) = old.slots[i];
    free(old.slots);
}

struct str texts_keep(struct texts *texts, struct str text)
{
    if (text.n == 0) return STR("");
    if (texts->count >= texts->cap / 2) grow(texts);
    struct str *slot = slot_of(texts, text);
    if (slot->p) return *slot;
    char *copy = room(texts, text.n + 1);
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    texts->count++;
    return *slot = (struct str){copy, text.n};
}

void texts_clear(struct texts *texts)
{
    for (struct text_chunk *chunk = texts->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(texts->slots);
    *texts = (struct texts){0};
}
