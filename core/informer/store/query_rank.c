/* Order of the objects of a query, in steps: keys, sorted runs, then all runs merged at once, so that each
 * key is read from memory once more and not once for each doubling; see query_internal.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"
#include "informer/store/indexer_internal.h"
#include "informer/store/query_internal.h"

/* Objects that are keyed, sorted or merged in a step; and blocks that are freed. */
enum { KEYED = 512, RUN = 512, MERGED = 512, FREED = 8 };
/* Bytes of a block: less than what libc maps and returns each time. */
enum { BLOCK = 64 << 10, ALIGNMENT = 16 };

/* Value that an object is ordered by: most are strings, of which nothing else is kept. */
struct rank_key {
    union {
        const char *text;
        const struct scalar *value;
    } at;
    uint32_t length; /* of the string */
    bool is_text;    /* else a value */
};

struct rank_block {
    struct rank_block *before;
    size_t used, size;
    _Alignas(ALIGNMENT) char bytes[];
};

struct rank_run {
    uint32_t head;      /* number of its first object that is left */
    uint32_t next, end; /* of `items`, behind the head; over the end: none is left */
};

int query_compare_by(const struct query_order_part *order, const struct scalar *x, const struct scalar *y)
{
    bool none_x = x->kind == SCALAR_NULL || x->kind == SCALAR_OTHER;
    bool none_y = y->kind == SCALAR_NULL || y->kind == SCALAR_OTHER;
    if (none_x != none_y) return none_x - none_y;
    int difference = scalar_order(x, y);
    return order->descending ? -difference : difference;
}

int query_compare(const struct query *query, const struct scalar *x, const struct scalar *y)
{
    for (size_t i = 0; i < query->order_count; i++) {
        int difference = query_compare_by(&query->orders[i], &x[i], &y[i]);
        if (difference) return difference;
    }
    return 0;
}

static struct str text_of(const struct rank_key *key)
{
    return (struct str){key->at.text, key->length};
}

static int compare_keys(const struct query_order_part *order, const struct rank_key *x,
                        const struct rank_key *y)
{
    if (x->is_text && y->is_text) {
        int difference = str_cmp(text_of(x), text_of(y));
        return order->descending ? -difference : difference;
    }
    struct scalar one = x->is_text ? scalar_text(text_of(x)) : *x->at.value;
    struct scalar other = y->is_text ? scalar_text(text_of(y)) : *y->at.value;
    return query_compare_by(order, &one, &other);
}

/* Compares two objects by their numbers. Once the query is stopped all are equal, so that the sort ends
 * soon. */
static int by_rank(const void *a, const void *b, void *ctx)
{
    const struct query_rank *rank = ctx;
    const struct query *query = rank->query;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (query_is_stopped(query)) return 0;
    const struct rank_key *of_x = &rank->keys[x * query->order_count],
                          *of_y = &rank->keys[y * query->order_count];
    for (size_t i = 0; i < query->order_count; i++) {
        int difference = compare_keys(&query->orders[i], &of_x[i], &of_y[i]);
        if (difference) return difference;
    }
    return (x > y) - (x < y);
}

/* --- keys */

/* A string may be unpacked into a temporary buffer, so it is copied; as the arena may move, the pointer holds
 * an offset until all are known. */
struct scalar query_key(const struct path *path, struct root *object, struct buf *arena)
{
    struct text text;
    struct scalar key = scalar_of(path_get(path, root_value(object)), &text);
    if (key.kind != SCALAR_TEXT || key.is_amount) return key;
    size_t at = arena->len;
    buf_str(arena, key.text);
    key.text.p = (const char *)at;
    return key;
}

void query_keys_point(struct scalar *keys, size_t count, const char *arena)
{
    for (size_t i = 0; i < count; i++)
        if (keys[i].kind == SCALAR_TEXT && !keys[i].is_amount)
            keys[i].text.p = arena + (size_t)keys[i].text.p;
}

/* Blocks do not move: a buffer that grows would copy megabytes in one step. */
static void *keep(struct query_rank *rank, const void *what, size_t size)
{
    struct rank_block *block = rank->block;
    size_t from = block ? (block->used + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : 0;
    if (!block || from > block->size || block->size - from < size) {
        size_t bytes = size < BLOCK ? BLOCK : size;
        rank->block = xmalloc(sizeof *block + bytes);
        *rank->block = (struct rank_block){.before = block, .size = bytes};
        block = rank->block;
        from = 0;
    }
    block->used = from + size;
    return size ? memcpy(block->bytes + from, what, size) : block->bytes + from;
}

static struct rank_key key_of(struct query_rank *rank, const struct path *path, const struct root *object)
{
    struct text text;
    struct scalar value = scalar_of(path_get(path, root_value(object)), &text);
    if (value.kind == SCALAR_TEXT && !value.is_amount && value.text.n <= UINT32_MAX)
        return (struct rank_key){.at.text = keep(rank, value.text.p, value.text.n),
                                 .length = (uint32_t)value.text.n,
                                 .is_text = true};
    value.text = (struct str){0};
    return (struct rank_key){.at.value = keep(rank, &value, sizeof value)};
}

/* Objects, their fields and the path's are each a part of memory that the one before names. */
static void prefetch_object(const struct query_rank *rank)
{
    struct root *const *next = &rank->list->objects[rank->keyed];
    size_t left = rank->list->count - rank->keyed;
    if (left > STORE_AHEAD) root_prefetch(next[STORE_AHEAD]);
    if (left > STORE_AHEAD_FIELDS) root_prefetch_fields(next[STORE_AHEAD_FIELDS]);
    const struct path *path = rank->query->orders[0].path;
    if (left > STORE_AHEAD_PATH) path_prefetch(path, 0, root_value(next[STORE_AHEAD_PATH]));
    if (left > STORE_AHEAD_VALUE) path_prefetch(path, 1, root_value(next[STORE_AHEAD_VALUE]));
}

static void add_keys(struct query_rank *rank)
{
    size_t orders = rank->query->order_count, end = rank->keyed + KEYED;
    for (; rank->keyed < rank->list->count && rank->keyed < end; rank->keyed++) {
        prefetch_object(rank);
        rank->items[rank->keyed] = (uint32_t)rank->keyed;
        for (size_t k = 0; k < orders; k++)
            rank->keys[rank->keyed * orders + k] =
                key_of(rank, rank->query->orders[k].path, rank->list->objects[rank->keyed]);
    }
}

/* --- runs */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t count_runs(const struct query_rank *rank)
{
    return (rank->list->count + RUN - 1) / RUN;
}

static void sort_run(struct query_rank *rank)
{
    size_t count = least(rank->list->count - rank->sorted, RUN);
    qsort_r(rank->items + rank->sorted, count, sizeof *rank->items, by_rank, rank);
    rank->runs[rank->sorted / RUN] = (struct rank_run){rank->items[rank->sorted], (uint32_t)rank->sorted + 1,
                                                       (uint32_t)(rank->sorted + count)};
    rank->sorted += count;
}

static bool is_over(const struct rank_run *run)
{
    return run->next > run->end;
}

/* Returns the one of two runs that has the first object. */
static uint32_t first_of(struct query_rank *rank, uint32_t a, uint32_t b)
{
    const struct rank_run *x = &rank->runs[a], *y = &rank->runs[b];
    if (is_over(x) || is_over(y)) return is_over(x) ? b : a;
    return by_rank(&x->head, &y->head, rank) <= 0 ? a : b;
}

static void begin_merge(struct query_rank *rank)
{
    for (size_t i = 0; i < rank->leaves; i++) rank->winners[rank->leaves + i] = (uint32_t)i;
    for (size_t i = rank->leaves; i-- > 1;)
        rank->winners[i] = first_of(rank, rank->winners[2 * i], rank->winners[2 * i + 1]);
}

/* The key of an object has its turn some hundred objects after it was prefetched, its string likewise. */
static void prefetch_keys(const struct query_rank *rank, const struct rank_run *run)
{
    size_t orders = rank->query->order_count;
    if (run->next + 1 < run->end) __builtin_prefetch(&rank->keys[rank->items[run->next + 1] * orders]);
    if (run->next >= run->end) return;
    uint32_t item = rank->items[run->next];
    __builtin_prefetch(rank->keys[item * orders].at.text);
    __builtin_prefetch(&rank->list->objects[item]);
}

static void merge(struct query_rank *rank)
{
    size_t end = least(rank->merged + MERGED, rank->list->count);
    if (rank->merged == 0) begin_merge(rank);
    while (rank->merged < end) {
        uint32_t number = rank->winners[1];
        struct rank_run *run = &rank->runs[number];
        rank->ordered[rank->merged++] = rank->list->objects[run->head];
        if (run->next < run->end) run->head = rank->items[run->next];
        run->next++;
        prefetch_keys(rank, run);
        for (size_t i = (rank->leaves + number) / 2; i > 0; i /= 2)
            rank->winners[i] = first_of(rank, rank->winners[2 * i], rank->winners[2 * i + 1]);
    }
}

/* --- all of it */

void query_rank_begin(struct query_rank *rank, const struct query *query, struct lister_list *list)
{
    *rank = (struct query_rank){.query = query, .list = list, .leaves = 1};
    if (!list->count || !query->order_count) return;
    must(list->count < UINT32_MAX);
    while (rank->leaves < count_runs(rank)) rank->leaves *= 2;
    /* Not zeroed, which would touch megabytes in this step: each is written before it is read. */
    rank->items = xreallocarray(NULL, list->count, sizeof *rank->items);
    rank->keys = xreallocarray(NULL, list->count * query->order_count, sizeof *rank->keys);
    rank->ordered = xreallocarray(NULL, list->count, sizeof(struct root *));
    rank->winners = xreallocarray(NULL, 2 * rank->leaves, sizeof *rank->winners);
    rank->runs = xreallocarray(NULL, rank->leaves, sizeof *rank->runs);
    for (size_t i = 0; i < rank->leaves; i++) rank->runs[i] = (struct rank_run){.next = 1};
}

static bool free_blocks(struct query_rank *rank)
{
    for (int i = 0; rank->block && i < FREED; i++) {
        struct rank_block *before = rank->block->before;
        free(rank->block);
        rank->block = before;
    }
    return !rank->block;
}

bool query_rank_end_step(struct query_rank *rank)
{
    if (!free_blocks(rank)) return false;
    free(rank->items);
    free(rank->keys);
    free(rank->ordered);
    free(rank->winners);
    free(rank->runs);
    *rank = (struct query_rank){0};
    return true;
}

void query_rank_end(struct query_rank *rank)
{
    while (!query_rank_end_step(rank)) continue;
}

bool query_rank_step(struct query_rank *rank)
{
    size_t count = rank->list->count;
    if (count == 0 || query_is_stopped(rank->query)) return true;
    if (rank->keyed < count) {
        add_keys(rank);
    } else if (rank->sorted < count) {
        sort_run(rank);
    } else {
        merge(rank);
        if (rank->merged < count) return false;
        free(rank->list->objects);
        rank->list->objects = rank->ordered;
        rank->ordered = NULL;
        return true;
    }
    return false;
}

void query_order_list(const struct query *query, struct lister_list *list)
{
    struct query_rank rank;
    query_rank_begin(&rank, query, list);
    while (!query_rank_step(&rank)) continue;
    query_rank_end(&rank);
}
