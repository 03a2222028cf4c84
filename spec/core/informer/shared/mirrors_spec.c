/* core/informer/shared/mirrors.c: after any deltas of several informers their common store holds what they
 * hold together, and whoever follows the calls of all of them knows the same (B-6). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/time/backoff.h"
#include "core/informer/support/objects.h"
#include "informer/shared/shared_informer.h"
#include "object/value/value.h"

enum { NAMESPACES = 3, NAMES = 6, ROUNDS = 300, STEPS = 40 };

struct world {
    struct shared_informer *informer[NAMESPACES];
    struct indexer *together;
    struct indexer *followed; /* by the calls of a handler */
    struct jitter random;
    int version;
};

static uint32_t below(struct world *w, uint32_t bound)
{
    return (uint32_t)jitter_between(&w->random, 0, bound);
}

/* What a handler is told is in the common store already. */
static void on_add(void *ctx, struct root *object, const struct event_info *info)
{
    struct world *w = ctx;
    assert_ptr_equal(indexer_get_like(w->together, object), object);
    assert_null(indexer_put(w->followed, root_ref(object)));
}

static void on_update(void *ctx, struct root *before, struct root *object, const struct event_info *info)
{
    struct world *w = ctx;
    assert_ptr_equal(indexer_get_like(w->together, object), object);
    struct root *known = indexer_put(w->followed, root_ref(object));
    assert_ptr_equal(known, before);
    root_unref(known);
}

static void on_delete(void *ctx, struct root *last, const struct event_info *info)
{
    struct world *w = ctx;
    assert_null(indexer_get_like(w->together, last));
    struct root *known = indexer_remove(w->followed, last);
    assert_non_null(known);
    root_unref(known);
}

/* A state of "n<ns>/o<name>" with a version that nothing had before. */
static void describe(struct world *w, int ns, uint32_t name, struct buf *out)
{
    buf_printf(out, "%sn%d/o%u@%d", out->len ? " " : "", ns, name, ++w->version);
}

static struct root *state_of(struct world *w, int ns, uint32_t name)
{
    struct buf text = {0};
    describe(w, ns, name, &text);
    struct root *root = object(buf_text(&text));
    buf_clear(&text);
    return root;
}

static void replace(struct world *w, int ns)
{
    struct buf text = {0};
    size_t count;
    char version[16];
    for (uint32_t name = 0; name < NAMES; name++)
        if (below(w, 2)) describe(w, ns, name, &text);
    struct root **list = object_list(buf_text(&text), &count);
    snprintf(version, sizeof version, "%d", ++w->version);
    delta_fifo_replace(shared_informer_fifo(w->informer[ns]), version, list, count, NULL, 7);
    buf_clear(&text);
}

static void change(struct world *w, int ns)
{
    struct delta_fifo *fifo = shared_informer_fifo(w->informer[ns]);
    struct indexer *store = shared_informer_indexer(w->informer[ns]);
    struct root *state = state_of(w, ns, below(w, NAMES));
    bool known = indexer_get_like(store, state) != NULL, gone = known && below(w, 3) == 0;
    delta_fifo_add(fifo, gone ? DELTA_DELETED : known ? DELTA_UPDATED : DELTA_ADDED, state, 7);
}

struct comparison {
    const struct indexer *other;
    size_t count;
};

static bool compare(void *ctx, struct root *object)
{
    struct comparison *c = ctx;
    assert_ptr_equal(indexer_get_like(c->other, object), object);
    c->count++;
    return true;
}

static void check(const struct world *w)
{
    struct comparison all = {w->together, 0}, followed = {w->followed, 0};
    for (int ns = 0; ns < NAMESPACES; ns++)
        indexer_each(shared_informer_indexer(w->informer[ns]), compare, &all);
    assert_int_equal(all.count, indexer_count(w->together));
    indexer_each(w->together, compare, &followed);
    assert_int_equal(followed.count, indexer_count(w->followed));
}

static void process(struct shared_informer *informer)
{
    while (shared_informer_process(informer, 100) > 0) continue;
}

/* The common store and the handlers come at any time; both then know what was there. */
static void join(struct world *w)
{
    const struct event_handler handler = {
        .on_add = on_add, .on_update = on_update, .on_delete = on_delete, .ctx = w};
    struct registration *registration;
    for (int ns = 0; ns < NAMESPACES; ns++) shared_informer_add_mirror(w->informer[ns], w->together);
    for (int ns = 0; ns < NAMESPACES; ns++) {
        shared_informer_add_handler(w->informer[ns], &handler, &registration);
        process(w->informer[ns]);
    }
}

static void run(uint64_t seed)
{
    struct world w = {.together = indexer_new(), .followed = indexer_new(), .random = {seed}};
    for (int ns = 0; ns < NAMESPACES; ns++) w.informer[ns] = shared_informer_new("pods", NULL, NULL);
    uint32_t joined_at = below(&w, STEPS / 2);
    for (uint32_t step = 0; step < STEPS; step++) {
        int ns = (int)below(&w, NAMESPACES);
        if (step == joined_at) join(&w);
        if (below(&w, 5) == 0)
            replace(&w, ns);
        else
            change(&w, ns);
        process(w.informer[ns]);
        if (step >= joined_at) check(&w);
    }
    for (int ns = 0; ns < NAMESPACES; ns++) {
        shared_informer_remove_mirror(w.informer[ns], w.together);
        shared_informer_free(w.informer[ns]);
    }
    indexer_free(w.together);
    indexer_free(w.followed);
}

static void test_b6_the_common_store_has_the_objects_of_all(void **state)
{
    const char *given = getenv("SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) * 1000003;
    print_message("mirrors: SEED=%llu\n", (unsigned long long)seed);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        objects_open();
        run(seed + round);
        objects_close();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_b6_the_common_store_has_the_objects_of_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
