/* Index: values, each with a list of nodes; see index.h. A node is one entry under one value, and is in two
 * lists: that of the value (posting_table.h), to be listed, and that of the entry, to be removed. */
#include "informer/store/index.h"

#include <stdlib.h>

#include "base/mem.h"
#include "informer/store/posting_table.h"

enum { NONE = POSTING_NONE };

struct index_node {
    struct posting *posting;
    uint32_t entry;
    int32_t previous, next; /* under the value */
    int32_t sibling;        /* under the entry; next free node of a free one */
};

struct index {
    struct index_source source;
    struct posting_table postings;
    struct index_node *nodes;
    size_t node_count, node_cap;
    int32_t free_node;
    int32_t *heads; /* first node of each entry */
    size_t head_count;
    struct index_values values; /* scratch of index_set */
    struct buf fresh;           /* their postings */
    uint64_t round;
};

void index_values_add(struct index_values *values, struct str value)
{
    buf_append(&values->bytes, &value.n, sizeof value.n);
    buf_str(&values->bytes, value);
    values->count++;
}

struct index *index_new(const struct index_source *source)
{
    struct index *index = NEW(struct index);
    index->source = *source;
    posting_table_init(&index->postings);
    index->free_node = NONE;
    index->round = 1;
    return index;
}

void index_free(struct index *index)
{
    if (!index) return;
    if (index->source.free) index->source.free(index->source.ctx);
    posting_table_clear(&index->postings);
    free(index->nodes);
    free(index->heads);
    buf_clear(&index->values.bytes);
    buf_clear(&index->fresh);
    free(index);
}

void index_empty(struct index *index)
{
    posting_table_clear(&index->postings);
    posting_table_init(&index->postings);
    free(index->nodes);
    free(index->heads);
    index->nodes = NULL;
    index->heads = NULL;
    index->node_count = index->node_cap = index->head_count = 0;
    index->free_node = NONE;
}

/* --- nodes */

/* Without array.h: there are as many as objects, so that half more is room enough. */
static int32_t new_node(struct index *index)
{
    int32_t at = index->free_node;
    if (at != NONE) {
        index->free_node = index->nodes[at].sibling;
        return at;
    }
    if (index->node_count == index->node_cap) {
        index->node_cap = index->node_cap ? index->node_cap + index->node_cap / 2 : 16;
        index->nodes = xrealloc(index->nodes, index->node_cap * sizeof *index->nodes);
    }
    return (int32_t)index->node_count++;
}

static void link_node(struct index *index, struct posting *p, uint32_t entry)
{
    int32_t at = new_node(index);
    struct index_node *node = &index->nodes[at];
    *node = (struct index_node){p, entry, p->last, NONE, index->heads[entry]};
    index->heads[entry] = at;
    if (p->last != NONE)
        index->nodes[p->last].next = at;
    else
        p->first = at;
    p->last = at;
    p->count++;
}

static void unlink_node(struct index *index, int32_t at)
{
    struct index_node *node = &index->nodes[at];
    struct posting *p = node->posting;
    if (node->previous != NONE)
        index->nodes[node->previous].next = node->next;
    else
        p->first = node->next;
    if (node->next != NONE)
        index->nodes[node->next].previous = node->previous;
    else
        p->last = node->previous;
    node->sibling = index->free_node;
    index->free_node = at;
    if (--p->count == 0)
        posting_table_forget(&index->postings, p); /* a value without entries is forgotten (S-5) */
}

static void reserve_heads(struct index *index, size_t count)
{
    if (count <= index->head_count) return;
    size_t more = index->head_count + index->head_count / 2;
    if (count < more) count = more;
    index->heads = xrealloc(index->heads, count * sizeof *index->heads);
    for (size_t i = index->head_count; i < count; i++) index->heads[i] = NONE;
    index->head_count = count;
}

/* --- entries */

/* Computes the values of an object; those before a failure of the source do not count (S-6). */
static void compute_values(struct index *index, struct root *object, struct index_values *out)
{
    struct err err;
    out->bytes.len = out->count = 0;
    if (!object || index->source.values(index->source.ctx, object, out, &err)) return;
    out->bytes.len = out->count = 0;
}

/* Returns the value at `*at` and advances. Copied by memcpy, as a length behind a string is not aligned. */
static struct str next_value(const char **at)
{
    struct str value;
    memcpy(&value.n, *at, sizeof value.n);
    value.p = *at + sizeof value.n;
    *at = value.p + value.n;
    return value;
}

/* Marks the postings of the values with the round, and collects each once. */
static void mark_fresh(struct index *index)
{
    const char *at = index->values.bytes.data;
    index->fresh.len = 0;
    for (size_t i = 0; i < index->values.count; i++) {
        struct posting *p = posting_table_get(&index->postings, next_value(&at));
        if (p->mark == index->round) continue;
        p->mark = index->round;
        buf_append(&index->fresh, &p, sizeof p);
    }
}

/* Removes nodes without a mark and clears the mark of the others, so that index_set adds only the new ones.
 */
static void unlink_stale(struct index *index, uint32_t entry)
{
    int32_t *link = &index->heads[entry];
    while (*link != NONE) {
        int32_t at = *link;
        struct index_node *node = &index->nodes[at];
        if (node->posting->mark == index->round) {
            node->posting->mark = 0;
            link = &node->sibling;
        } else {
            *link = node->sibling;
            unlink_node(index, at);
        }
    }
}

static void touch(const struct index *index, uint32_t entry)
{
    if (index->source.touched) index_values_of(index, entry, index->source.touched, index->source.ctx);
}

bool index_is_later(const struct index *index)
{
    return index->source.later && index->source.later(index->source.ctx);
}

void index_set(struct index *index, uint32_t entry, struct root *object)
{
    reserve_heads(index, (size_t)entry + 1);
    compute_values(index, object, &index->values);
    touch(index, entry);
    mark_fresh(index);
    unlink_stale(index, entry);
    struct posting **fresh = (struct posting **)index->fresh.data;
    for (size_t i = 0; i < index->fresh.len / sizeof *fresh; i++)
        if (fresh[i]->mark == index->round) link_node(index, fresh[i], entry);
    index->round++;
    touch(index, entry);
}

void index_renumber(struct index *index, const uint32_t *numbers, size_t count)
{
    if (count > index->head_count) count = index->head_count;
    for (size_t i = 0; i < count; i++) {
        int32_t head = index->heads[i];
        index->heads[i] = NONE;
        if (numbers[i] == INDEX_GONE) continue;
        index->heads[numbers[i]] =
            head; /* entries only move to smaller numbers, so no head is overwritten before it is read */
        for (int32_t at = head; at != NONE; at = index->nodes[at].sibling)
            index->nodes[at].entry = numbers[i];
    }
}

/* --- reading */

size_t index_count(const struct index *index, struct str value)
{
    const struct posting *p = posting_table_find(&index->postings, value);
    return p ? p->count : 0;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

void index_entries(const struct index *index, struct str value, struct buf *out)
{
    const struct posting *p = posting_table_find(&index->postings, value);
    if (!p) return;
    size_t start = out->len;
    /* Nodes are in the order in which entries received the value, which is mostly that of the entries: sort
     * only if it is not. */
    bool sorted = true;
    uint32_t last = 0;
    buf_reserve(out, p->count * sizeof last);
    for (int32_t at = p->first; at != NONE; at = index->nodes[at].next) {
        uint32_t entry = index->nodes[at].entry;
        sorted = sorted && entry >= last;
        last = entry;
        buf_append(out, &entry, sizeof entry);
    }
    if (!sorted) qsort(out->data + start, p->count, sizeof last, by_number);
}

void index_entries_like(struct index *index, struct root *object, struct buf *out)
{
    struct index_values values = {0};
    size_t start = out->len;
    compute_values(index, object, &values);
    const char *at = values.bytes.data;
    for (size_t i = 0; i < values.count; i++) index_entries(index, next_value(&at), out);
    buf_clear(&values.bytes);
    uint32_t *numbers = (uint32_t *)(out->data + start);
    size_t count = (out->len - start) / sizeof *numbers, kept = 0;
    if (count) qsort(numbers, count, sizeof *numbers, by_number);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || numbers[i] != numbers[kept - 1]) numbers[kept++] = numbers[i];
    out->len = start + kept * sizeof *numbers;
}

void index_each_value(const struct index *index, void (*fn)(void *ctx, struct str value, size_t count),
                      void *ctx)
{
    const struct posting *p;
    for (size_t at = 0; (p = posting_table_next(&index->postings, &at));) fn(ctx, posting_value(p), p->count);
}

void index_values_of(const struct index *index, uint32_t entry, void (*fn)(void *ctx, struct str value),
                     void *ctx)
{
    if (entry >= index->head_count) return;
    for (int32_t at = index->heads[entry]; at != NONE; at = index->nodes[at].sibling)
        fn(ctx, posting_value(index->nodes[at].posting));
}

bool index_is_of(const struct index *index, const struct index_source *source)
{
    return index->source.values == source->values && index->source.ctx == source->ctx;
}

size_t index_bytes(const struct index *index)
{
    return sizeof *index + posting_table_bytes(&index->postings) + index->node_cap * sizeof *index->nodes +
           index->head_count * sizeof *index->heads;
}
