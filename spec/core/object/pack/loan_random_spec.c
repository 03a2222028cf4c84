/* core/object/loan: after whatever was made, failed and freed, every node counts what refers to it. Objects
 * have more large parts than sections, keys twice, texts that only the tape takes, or that are wrong behind
 * copied parts; they are released on other threads, by late drains, and the pool is now and then full. Some
 * are moved meanwhile, out of slabs that are chosen at random. */
#include "core/object/support/objects.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "object/pack/intern.h"
#include "object/pack/slab_internal.h"

enum { PARTS = 9, META = 3, HELD = 12, ROUNDS = 4000, VALUES = 24 };

#define TEN   "\"0123456\","
#define FIFTY TEN TEN TEN TEN TEN
#define LONG  FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY "1"
#define TIME  "\"2026-01-02T03:04:05Z\""

struct document {
    uint32_t part[PARTS], meta[META];
    uint32_t present; /* bits by part */
    uint32_t first;   /* the part that comes first */
};

/* Sections that became words of their own, that became a node, and what is too short for one. */
static void put_part(struct buf *text, const char *name, uint32_t i, uint32_t v)
{
    buf_printf(text, ",\"%s%u\":", name, i);
    switch (v % 5) {
    case 0: buf_printf(text, "{\"at\":%u,\"it\":[%u,[%u,%s]]}", i, v, i, LONG); break;
    case 1: buf_printf(text, "[{\"it\":[%u,[%u,%s]],\"time\":" TIME "},[%s]]", v, i, LONG, LONG); break;
    case 2: buf_printf(text, "[%u,[%u,%s]]", v, i, LONG); break;
    case 3: buf_printf(text, "{\"when\":" TIME ",\"a\":[%s],\"b\":{\"c\":[%u,%s]}}", LONG, v, LONG); break;
    case 4: buf_printf(text, "%u", v); break;
    }
}

static void write_document(struct buf *text, uint32_t version, const struct document *d, struct random *r)
{
    static const char *const ends[] = {
        ",\"x\":{\"k\":1,\"k\":2}",      /* blobs do not stay where they were written */
        ",\"part0\":1",                  /* and a copied part may be dropped */
        ",\"x\":tru",                    /* wrong */
        ",\"x\":1e999",                  /* wrong, too */
        ",\"x\":\"\\u00e9\"",            /* for the tape */
        ",\"x\":1234567890123456789012", /* for the tape */
    };
    text->len = 0;
    buf_printf(text, "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"%u\"", version);
    for (uint32_t i = 0; i < META; i++) put_part(text, "m", i, d->meta[i]);
    buf_putc(text, '}');
    for (uint32_t k = 0; k < PARTS; k++) {
        uint32_t i = (k + d->first) % PARTS;
        if (d->present >> i & 1) put_part(text, "part", i, d->part[i]);
    }
    uint32_t end = random_below(r, 30);
    if (end < sizeof ends / sizeof *ends) buf_puts(text, ends[end]);
    buf_putc(text, '}');
}

static void change(struct document *d, struct random *r)
{
    for (size_t i = 0; i < PARTS; i++) {
        if (random_below(r, 5) == 0) d->part[i] = random_below(r, VALUES);
    }
    for (size_t i = 0; i < META; i++) {
        if (random_below(r, 5) == 0) d->meta[i] = random_below(r, VALUES);
    }
    if (random_below(r, 6) == 0) d->present ^= 1u << random_below(r, PARTS);
    if (random_below(r, 12) == 0) d->first = random_below(r, PARTS);
}

struct tally {
    struct pool *pool;
    uint32_t *count; /* by granule; all 0 between two audits */
};

static void tally_ref(void *ctx, uint32_t granule)
{
    ((struct tally *)ctx)->count[granule]++;
}

static void tally_root(struct tally *t, const struct root *root)
{
    const struct section *s = root_sections(root);
    size_t at = 0;
    for (uint32_t i = 0; i < root->section_count; i++) {
        if (!s[i].borrowed) continue;
        words_each_ref(root->words + at, s[i].first - at, tally_ref, t);
        at = section_end(root->words, &s[i]);
    }
    words_each_ref(root->words + at, root->size - at, tally_ref, t);
}

static uint32_t granule_in(const struct granule_table *table, uint32_t slot)
{
    return table->slot ? (uint32_t)(table->slot[slot] >> 32) : 0;
}

/* Each node counts the words of nodes and roots that refer to it, borrowed ones left out. */
static void audit(struct tally *t)
{
    const struct granule_table *roots = &t->pool->roots, *nodes = &t->pool->nodes;
    for (uint32_t i = 0; i <= roots->mask; i++) {
        uint32_t granule = granule_in(roots, i);
        if (granule) tally_root(t, pool_at(t->pool, granule));
    }
    for (uint32_t i = 0; i <= nodes->mask; i++) {
        uint32_t granule = granule_in(nodes, i);
        const struct node *node = granule ? pool_at(t->pool, granule) : NULL;
        if (node) words_each_ref(node->words, node->size, tally_ref, t);
    }
    for (uint32_t i = 0; i <= nodes->mask; i++) {
        uint32_t granule = granule_in(nodes, i);
        if (!granule) continue;
        const struct node *node = pool_at(t->pool, granule);
        assert_int_equal(node->count, t->count[granule]);
        t->count[granule] = 0;
    }
}

struct held {
    struct root *root;
    char *json;
};

static void *drop(void *ctx)
{
    struct held *held = ctx;
    root_unref(held->root);
    free(held->json);
    *held = (struct held){NULL, NULL};
    return NULL;
}

static void drop_somewhere(struct held *held, struct random *r)
{
    pthread_t thread;
    if (held->root) assert_string_equal(json_of(root_value(held->root)), held->json);
    if (random_below(r, 3) > 0) {
        drop(held);
        return;
    }
    assert_int_equal(pthread_create(&thread, NULL, drop, held), 0);
    pthread_join(thread, NULL);
}

struct seen {
    size_t borrowed, most_sections, by_tape, refused, queued, moved;
};

static void note(struct seen *seen, const struct root *root)
{
    bool borrowed = false;
    for (uint32_t i = 0; i < root->section_count; i++) borrowed |= root_sections(root)[i].borrowed;
    seen->borrowed += borrowed;
    if (root->section_count > seen->most_sections) seen->most_sections = root->section_count;
}

static void make(struct fixture *f, struct str text, struct held *held, struct seen *seen)
{
    const struct root *last = root_of_head(f->pool, pack_mark(text, &thing_type).head);
    seen->queued += last && (last->refs & ROOT_QUEUED);
    struct root *root = straight(f->packer, text), *same = by_tape(f->packer, text);
    if (root && same) assert_ptr_equal(root, same);
    seen->by_tape += !root && same;
    seen->refused += !root && !same;
    if (root) root_unref(same);
    held->root = root ? root : same;
    if (!held->root) return;
    note(seen, held->root);
    held->json = xstrdup(json_of(root_value(held->root)));
}

/* Half of those with room. */
static void empty_some(struct slabs *slabs, struct random *r)
{
    for (unsigned class_ = 0; class_ < SLAB_CLASSES; class_++) {
        uint32_t next;
        for (uint32_t slab = slabs->room[class_]; slab; slab = next) {
            next = slabs->slab[slab].next;
            if (random_below(r, 2)) continue;
            slab_list_remove(slabs, slab);
            slab_mark(slabs->emptying, slab, true);
            slabs->emptying_count++;
        }
    }
}

static void move_some(struct pool *pool, struct held *held, struct random *r, struct seen *seen)
{
    struct slabs *slabs = pool_slabs(pool);
    if (random_below(r, 3) == 0) slabs_end_emptying(slabs);
    if (slabs->emptying_count == 0) empty_some(slabs, r);
    for (size_t i = 0; i < HELD; i++) {
        struct root *before = held[i].root;
        if (before && random_below(r, 3)) held[i].root = root_move(before);
        seen->moved += held[i].root != before;
    }
}

static struct seen run(const char *name, size_t limit_bytes)
{
    struct fixture f = {.pool = pool_new(&(struct pool_options){.limit_bytes = limit_bytes})};
    struct tally tally = {f.pool, xcalloc(1u << 22, sizeof(uint32_t))};
    struct random r = random_start(name);
    struct held held[HELD] = {{NULL, NULL}};
    struct document d = {.present = (1u << PARTS) - 1};
    struct seen seen = {0};
    struct buf text = {0};
    f.packer = packer_new(f.pool);
    for (uint32_t n = 1; n < ROUNDS; n++) {
        struct held *at = &held[random_below(&r, HELD)];
        drop_somewhere(at, &r);
        if (random_below(&r, 5) == 0) pool_drain(f.pool);
        change(&d, &r);
        uint32_t back = n > 10 && random_below(&r, 6) == 0 ? random_below(&r, 6) : 0;
        write_document(&text, n - back, &d, &r);
        make(&f, buf_slice(&text), at, &seen);
        if (random_below(&r, 4) == 0) move_some(f.pool, held, &r, &seen);
        if (n % 7 == 0) audit(&tally);
    }
    for (size_t i = 0; i < HELD; i++) {
        drop_somewhere(&held[i], &r);
        pool_drain(f.pool);
        audit(&tally);
    }
    free(tally.count);
    buf_clear(&text);
    fixture_close(&f);
    return seen;
}

static void test_counts_are_right_whatever_is_made_and_freed(void **state)
{
    struct seen seen = run("loans", 0);
    assert_true(seen.borrowed > ROUNDS / 4 && seen.by_tape > 0 && seen.queued > 0);
    assert_true(seen.moved > ROUNDS / 10);
    assert_int_equal(seen.most_sections, SECTIONS_MAX);
}

static void test_counts_are_right_when_the_pool_is_full(void **state)
{
    struct seen seen = run("loans in a full pool", 12 << 16);
    assert_true(seen.borrowed > 0 && seen.refused > ROUNDS / 20 && seen.moved > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_are_right_whatever_is_made_and_freed),
        cmocka_unit_test(test_counts_are_right_when_the_pool_is_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
