/* A hash table of which the newest are taken away first; see input_keys.h. */
#include "audit/input/input_keys.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

enum { CHAINS_MIN = 256 };

static struct str text_of(const struct input_keys *keys, const struct input_key *key)
{
    return (struct str){keys->text.data + key->from, key->length};
}

/* The same key at other depths is another one. */
static uint32_t *chain_of(const struct input_keys *keys, struct str text, int depth)
{
    return &keys->chain[(hash_str(text) + (uint64_t)depth * 31) & (keys->chains - 1)];
}

static void link_key(struct input_keys *keys, size_t i)
{
    uint32_t *chain = chain_of(keys, text_of(keys, &keys->key[i]), keys->key[i].depth);
    keys->key[i].older = *chain;
    *chain = (uint32_t)(i + 1);
}

static void grow(struct input_keys *keys)
{
    keys->room = keys->chains = keys->room ? keys->room * 2 : CHAINS_MIN;
    keys->key = xrealloc(keys->key, keys->room * sizeof *keys->key);
    free(keys->chain);
    keys->chain = xcalloc(keys->chains, sizeof *keys->chain);
    for (size_t i = 0; i < keys->count; i++) link_key(keys, i);
}

bool input_keys_add(struct input_keys *keys, int depth, struct str text)
{
    if (keys->count == keys->room) grow(keys);
    for (uint32_t i = *chain_of(keys, text, depth); i > 0; i = keys->key[i - 1].older) {
        const struct input_key *key = &keys->key[i - 1];
        if (key->depth == depth && str_eq(text_of(keys, key), text)) return false;
    }
    keys->key[keys->count] = (struct input_key){.from = keys->text.len, .length = text.n, .depth = depth};
    buf_str(&keys->text, text);
    link_key(keys, keys->count++);
    return true;
}

/* The newest of all is the newest of its chain. */
void input_keys_close(struct input_keys *keys, int depth)
{
    while (keys->count > 0 && keys->key[keys->count - 1].depth >= depth) {
        const struct input_key *key = &keys->key[--keys->count];
        *chain_of(keys, text_of(keys, key), key->depth) = key->older;
        keys->text.len = key->from;
    }
}

void input_keys_clear(struct input_keys *keys)
{
    buf_clear(&keys->text);
    free(keys->key);
    free(keys->chain);
    *keys = (struct input_keys){0};
}
