/* Anchors and keys, of which the newest of a name counts; see yaml_anchors.h. */
#include "base/yaml/yaml_anchors.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/must.h"

static size_t chain_of(const char *name)
{
    return hash_str(str_of(name)) % YAML_ANCHOR_CHAINS;
}

void yaml_anchors_begin(struct yaml_anchors *as, const char *name, int depth, size_t from)
{
    as->is_full |= as->count == YAML_ANCHORS_MAX;
    if (as->is_full) return;
    must(as->open_count < ARRAY_LEN(as->open));
    uint32_t *chain = &as->chain[chain_of(name)];
    as->open[as->open_count++] = (uint32_t)as->count;
    *array_add(as->anchor, as->count) = (struct yaml_anchor){
        .name = xstrdup(name), .from = from, .depth = depth, .open = true, .older = *chain};
    *chain = (uint32_t)as->count;
}

void yaml_anchors_end(struct yaml_anchors *as, int depth, struct str text, size_t max)
{
    while (as->open_count > 0) {
        struct yaml_anchor *a = &as->anchor[as->open[as->open_count - 1]];
        if (a->depth < depth) return;
        a->open = false;
        as->open_count--;
        if (as->bytes + (text.n - a->from) > max) continue; /* it stays without text */
        buf_append(&a->json, text.p + a->from, text.n - a->from);
        as->bytes += a->json.len;
    }
}

/* The newest of all is also the newest of its chain. */
static void drop_last(struct yaml_anchors *as)
{
    struct yaml_anchor *a = &as->anchor[--as->count];
    if (a->open) as->open_count--;
    as->bytes -= a->json.len;
    as->chain[chain_of(a->name)] = a->older;
    buf_clear(&a->json);
    free(a->name);
}

void yaml_anchors_abandon(struct yaml_anchors *as)
{
    while (as->open_count > 0) drop_last(as);
}

enum yaml_anchor_state yaml_anchors_find(const struct yaml_anchors *as, const char *name, struct str *json)
{
    *json = (struct str){NULL, 0};
    if (as->is_full) return YAML_ANCHOR_UNKNOWN; /* the newest of the name may have found no room */
    for (uint32_t i = as->chain[chain_of(name)]; i > 0; i = as->anchor[i - 1].older) {
        const struct yaml_anchor *a = &as->anchor[i - 1];
        if (!str_is(str_of(a->name), name)) continue;
        if (a->open) return YAML_ANCHOR_OPEN;
        *json = buf_slice(&a->json);
        return json->n ? YAML_ANCHOR_KNOWN : YAML_ANCHOR_UNKNOWN;
    }
    return YAML_ANCHOR_UNKNOWN;
}

void yaml_anchors_clear(struct yaml_anchors *as)
{
    while (as->count > 0) drop_last(as);
    free(as->anchor);
    as->anchor = NULL;
    as->is_full = false;
}

/* --- a hash table whose newest entries are removed first */

static struct str text_of(const struct yaml_keys *keys, const struct yaml_key *key)
{
    return (struct str){keys->text.data + key->from, key->length};
}

/* Returns the chain of a key; equal keys at different depths are different. */
static uint32_t *chain_of_key(const struct yaml_keys *keys, struct str text, int depth)
{
    return &keys->chain[(hash_str(text) + (uint64_t)depth * 31) & (keys->room - 1)];
}

static void link_key(struct yaml_keys *keys, size_t i)
{
    uint32_t *chain = chain_of_key(keys, text_of(keys, &keys->key[i]), keys->key[i].depth);
    keys->key[i].older = *chain;
    *chain = (uint32_t)(i + 1);
}

static void grow(struct yaml_keys *keys)
{
    keys->key = array_double(keys->key, &keys->room, sizeof *keys->key);
    free(keys->chain);
    keys->chain = xcalloc(keys->room, sizeof *keys->chain);
    for (size_t i = 0; i < keys->count; i++) link_key(keys, i);
}

bool yaml_keys_add(struct yaml_keys *keys, int depth, struct str text)
{
    if (keys->count == keys->room) grow(keys);
    for (uint32_t i = *chain_of_key(keys, text, depth); i > 0; i = keys->key[i - 1].older) {
        const struct yaml_key *key = &keys->key[i - 1];
        if (key->depth == depth && str_eq(text_of(keys, key), text)) return false;
    }
    keys->key[keys->count] = (struct yaml_key){.from = keys->text.len, .length = text.n, .depth = depth};
    buf_str(&keys->text, text);
    link_key(keys, keys->count++);
    return true;
}

/* The newest of all is also the newest of its chain. */
void yaml_keys_close(struct yaml_keys *keys, int depth)
{
    while (keys->count > 0 && keys->key[keys->count - 1].depth >= depth) {
        const struct yaml_key *key = &keys->key[--keys->count];
        *chain_of_key(keys, text_of(keys, key), key->depth) = key->older;
        keys->text.len = key->from;
    }
}

void yaml_keys_clear(struct yaml_keys *keys)
{
    buf_clear(&keys->text);
    free(keys->key);
    free(keys->chain);
    *keys = (struct yaml_keys){0};
}
