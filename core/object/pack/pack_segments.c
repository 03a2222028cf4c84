/* Large maps and arrays, whose entries are copied of the last state, a segment at once; see segment.h. */
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "object/pack/intern.h"
#include "object/pack/pack_internal.h"
#include "object/pack/pack_segments.h"
#include "object/value/dict.h"

enum { SEARCHED = 8 }; /* segments of the last state that may be the next one */

/* Finds the container in the last state. */
static void find_old(struct large *l, const struct root *last)
{
    struct segment_list list = segments_of(l->walk->packer->encoder.pool, last);
    for (size_t i = 0; i < list.groups; i++) {
        const struct segment_group *group = &list.group[i];
        if (group->path != l->walk->path || group->is_map != l->is_map) continue;
        l->words = last->words + group->first;
        l->header = last->words + word_payload(group->word);
        if (word_tag(group->word) == TAG_REF) {
            const struct node *node = pool_at(l->walk->packer->encoder.pool, word_payload(group->word));
            l->words = node->words;
            l->header = node->words + node->top;
        }
        l->next = list.segment + group->segment;
        l->end = l->next + group->count;
        l->old_ascends = group->ascends;
        l->old_is_plain = group->is_plain;
        return;
    }
}

struct large large_begin(struct walk *w, int depth)
{
    struct large l = {.walk = w,
                      .open = encode_open(&w->packer->encoder),
                      .depth = depth,
                      .is_map = here(w) == '{',
                      .from = w->tokens.at[w->at],
                      .segments = w->packer->segment_count,
                      .before = STR("")};
    l.ascends = l.is_map;
    if (w->last) find_old(&l, w->last);
    return l;
}

static uint32_t position(const struct large *l)
{
    return l->walk->tokens.at[l->walk->at] - l->from;
}

static struct segment *add_segment(struct large *l, const struct segment *segment)
{
    struct packer *p = l->walk->packer;
    array_reserve(p->segment, p->segment_count, p->segment_cap);
    p->segment[p->segment_count] = *segment;
    return &p->segment[p->segment_count++];
}

/* --- Entries that are walked */

/* Before an entry. */
void large_open(struct large *l)
{
    const struct encoder *e = &l->walk->packer->encoder;
    if (l->stretch.entries > 0) return;
    l->stretch = (struct segment){.at = position(l),
                                  .first = (uint32_t)(e->used - l->open.start),
                                  .entry = (uint32_t)(e->depth - l->open.depth)};
}

/* The stretch as it became so far: the walk is behind an entry of it, at the comma or the bracket. */
static void measure_stretch(struct large *l)
{
    const struct walk *w = l->walk;
    const struct encoder *e = &w->packer->encoder;
    struct segment *s = &l->stretch;
    s->length = position(l) - s->at;
    s->words = (uint32_t)(e->used - l->open.start) - s->first;
    s->height = (uint32_t)(w->deepest - l->depth) & 0x7f;
    s->is_unique = e->unique > l->open.start + s->first;
}

/* Behind an entry: the stretch becomes a segment once it is long. */
void large_extend(struct large *l)
{
    l->stretch.entries++;
    measure_stretch(l);
    if (l->stretch.length < SEGMENT_MIN) return;
    add_segment(l, &l->stretch);
    l->stretch.entries = 0;
    l->follows = true;
}

/* Before a copied segment, and at the end: a short rest belongs to the segment before it. */
void large_close(struct large *l)
{
    struct packer *p = l->walk->packer;
    const struct segment *rest = &l->stretch;
    if (rest->entries > 0 && l->follows) {
        struct segment *last = &p->segment[p->segment_count - 1];
        last->length = rest->at + rest->length - last->at;
        last->words += rest->words;
        last->entries = (last->entries + rest->entries) & SEGMENT_ENTRIES_MAX;
        last->height = rest->height;
        last->is_unique |= rest->is_unique;
    } else if (rest->entries > 0 && rest->length >= SEGMENT_LEAST) {
        add_segment(l, rest);
    }
    l->stretch.entries = 0;
    l->follows = false;
}

/* Notes the key at the walk. */
void large_note_key(struct large *l, struct str key, bool is_plain)
{
    int order = memcmp(l->before.p, key.p, l->before.n < key.n ? l->before.n : key.n);
    bool is_first = l->walk->packer->encoder.depth == l->open.depth;
    l->ascends &= is_plain && (is_first || order < 0 || (order == 0 && l->before.n < key.n));
    l->before = key;
}

/* --- Entries that are copied */

static uint64_t hash_of(const struct segment *segment)
{
    return (uint64_t)segment->hash[1] << 32 | segment->hash[0];
}

/* Returns the segment of the last state whose text stands at the walk, as complete entries. */
static const struct segment *segment_here(const struct large *l)
{
    const struct tokens *t = &l->walk->tokens;
    const char *p = t->text + t->at[l->walk->at];
    size_t rest = t->at[t->count] - t->at[l->walk->at];
    if (l->next == l->end || rest < SEGMENT_LEAST) return NULL;
    uint32_t head = (uint32_t)hash_bytes(p, SEGMENT_HEAD);
    const struct segment *until = l->end - l->next > SEARCHED ? l->next + SEARCHED : l->end;
    for (const struct segment *s = l->next; s < until; s++) {
        if (s->head != head || s->length >= rest || l->depth + (int)s->height > PACK_DEPTH_MAX) continue;
        char behind = p[s->length];
        bool ends = behind == ',' || behind == (l->is_map ? '}' : ']');
        if (ends && hash_bytes(p, s->length) == hash_of(s)) return s;
    }
    return NULL;
}

/* A word of the container of the last state, as pending one: its blob is in a copy that begins at `start`. */
static uint32_t moved(const struct large *l, const struct segment *s, uint32_t word, size_t start)
{
    if (word_tag(word) != TAG_LOCAL) return word;
    size_t place = (size_t)(l->header - l->words) - word_payload(word);
    return word_make(TAG_LOCAL, (uint32_t)(start + place - s->first));
}

static void push_entries(struct large *l, const struct segment *s, size_t start)
{
    struct encoder *e = &l->walk->packer->encoder;
    const uint32_t *word = l->header + 1;
    const bool has_keys = blob_kind(*l->header) == BLOB_MAP_OWN;
    const uint32_t *keys = l->is_map && !has_keys ? shape_keys(blob_payload(*l->header)) : NULL;
    for (uint32_t i = s->entry; i < s->entry + s->entries; i++) {
        struct pending *entry = encode_push(e);
        entry->start = ENTRY_COPIED;
        entry->value = moved(l, s, word[has_keys ? 2 * i + 1 : i], start);
        entry->key = has_keys ? moved(l, s, word[2 * i], start) : keys ? word_make(TAG_KEY, keys[i]) : 0;
    }
}

/* Notes the first and the last key of a segment. */
static void note_keys(struct large *l, const struct segment *s)
{
    const struct walk *w = l->walk;
    struct str first = token_raw(&w->tokens, w->at), last;
    large_note_key(l, first, !has_backslash(first.p, first.n) && l->old_ascends);
    value_entry((struct value){l->header, *l->header}, s->entry + s->entries - 1, &last, &l->text);
    l->before = last;
}

/* Copies the entries from the walk on, as far as they are a segment of the last state. */
bool large_copy(struct large *l)
{
    struct walk *w = l->walk;
    struct encoder *e = &w->packer->encoder;
    const struct segment *s = segment_here(l);
    size_t start = e->used;
    if (!s || !encode_copy(e, l->words + s->first, s->words, NULL)) return false;
    large_close(l);
    if (l->is_map) note_keys(l, s);
    struct segment *copy = add_segment(l, s);
    copy->at = position(l);
    copy->first = (uint32_t)(start - l->open.start);
    copy->entry = (uint32_t)(e->depth - l->open.depth);
    push_entries(l, s, start);
    if (s->is_unique) e->unique = e->used;
    if (!l->old_is_plain) encode_referenced(e);
    if (w->deepest < l->depth + (int)s->height) w->deepest = l->depth + (int)s->height;
    walk_leap(w, w->tokens.at[w->at] + s->length);
    l->next = s + 1;
    return true;
}

/* --- All of it */

/* Computes what the new segments are found by. */
static void hash_segments(const struct large *l)
{
    struct packer *p = l->walk->packer;
    for (size_t i = l->segments; i < p->segment_count; i++) {
        struct segment *s = &p->segment[i];
        if (hash_of(s) != 0) continue;
        const char *text = l->walk->tokens.text + l->from + s->at;
        uint64_t hash = hash_bytes(text, s->length);
        s->hash[0] = (uint32_t)hash;
        s->hash[1] = (uint32_t)(hash >> 32);
        s->head = (uint32_t)hash_bytes(text, SEGMENT_HEAD);
    }
}

void large_end(struct large *l, uint32_t word, bool is_plain)
{
    struct walk *w = l->walk;
    struct packer *p = w->packer;
    size_t count = p->segment_count - l->segments;
    bool is_blob = word_tag(word) == TAG_REF || word_tag(word) == TAG_LOCAL;
    if (count == 0 || !is_blob || p->group_count == SECTIONS_MAX) {
        p->segment_count = l->segments;
        return;
    }
    hash_segments(l);
    p->group[p->group_count++] = (struct segment_group){
        .path = w->path,
        .at = l->from,
        .word = word,
        .first = word_tag(word) == TAG_REF ? 0 : (uint32_t)l->open.start,
        .segment = (uint32_t)l->segments,
        .count = (uint32_t)count,
        .is_plain = is_plain,
        .is_map = l->is_map,
        .ascends = l->ascends,
    };
}
