/* core/object/loan: states of an object share references, in whatever order they are freed. */
#include "core/object/support/objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/pack/intern.h"
#include "object/pack/loan.h"
#include "object/parse/tape.h"

enum { PARTS = 4, STATES = 4 };

#define TEN   "\"0123456\","
#define FIFTY TEN TEN TEN TEN TEN
#define LONG  FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY "1"

/* An object of some parts, each a section with a node that it shares with nothing else. */
static void write_state(struct buf *text, uint32_t version, const uint32_t *part)
{
    text->len = 0;
    buf_printf(text, "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"%u\"}", version);
    for (int i = 0; i < PARTS; i++)
        buf_printf(text, ",\"part%d\":{\"at\":%d,\"it\":[%u,[%d,%s]]}", i, i, part[i], i, LONG);
    buf_putc(text, '}');
}

struct state {
    struct root *root;
    char *json; /* what it says, from when it was made */
};

static struct state state_make(struct fixture *f, uint32_t version, const uint32_t *part)
{
    struct buf text = {0};
    write_state(&text, version, part);
    struct root *root = straight(f->packer, buf_slice(&text));
    buf_clear(&text);
    assert_non_null(root);
    return (struct state){root, xstrdup(json_of(root_value(root)))};
}

static void state_check(const struct state *state)
{
    if (state->root) assert_string_equal(json_of(root_value(state->root)), state->json);
}

static void state_free(struct state *state)
{
    root_unref(state->root);
    free(state->json);
    *state = (struct state){NULL, NULL};
}

struct count {
    struct pool *pool;
    uint32_t most;
};

static void note_count(void *ctx, uint32_t granule)
{
    struct count *count = ctx;
    const struct node *node = pool_at(count->pool, granule);
    if (node->count > count->most) count->most = node->count;
}

/* The highest count of references among the nodes that an object refers to. */
static uint32_t most_counted(struct pool *pool, const struct root *root)
{
    struct count count = {pool, 0};
    words_each_ref(root->words, root->size, note_count, &count);
    return count.most;
}

static void test_an_update_counts_nothing_for_what_it_has_of_the_last_state(void **state)
{
    struct fixture *f = *state;
    uint32_t part[PARTS] = {1, 2, 3, 4};
    struct state a = state_make(f, 1, part), b, c;
    assert_int_equal(most_counted(f->pool, a.root), 1);
    b = state_make(f, 2, part);
    c = state_make(f, 3, part);
    assert_int_equal(most_counted(f->pool, c.root), 1);
    state_free(&a);
    state_free(&c);
    assert_int_equal(most_counted(f->pool, b.root), 1);
    state_check(&b);
    state_free(&b);
    assert_int_equal(pool_stats(f->pool).nodes, 0);
}

/* The last state says what the first one did, and so is it: what is made of it then is its second heir. */
static void test_a_second_heir_counts_its_own(void **state)
{
    struct fixture *f = *state;
    uint32_t part[PARTS] = {1, 2, 3, 4};
    struct state a = state_make(f, 1, part), b = state_make(f, 2, part), again = state_make(f, 1, part);
    assert_ptr_equal(again.root, a.root);
    assert_false(loan_is_free(a.root));
    struct state c = state_make(f, 3, part);
    assert_int_equal(most_counted(f->pool, c.root), 2);
    state_free(&again);
    state_free(&a);
    state_check(&b);
    state_check(&c);
    state_free(&b);
    state_check(&c);
    state_free(&c);
}

/* All orders in which four states can be freed, with a part changed in each, another one every time. */
static void test_states_are_freed_in_any_order(void **state)
{
    struct fixture *f = *state;
    for (int order = 0; order < 4 * 4 * 4 * 4; order++) {
        uint32_t part[PARTS] = {1, 2, 3, 4};
        int free_at[STATES] = {order & 3, order >> 2 & 3, order >> 4 & 3, order >> 6 & 3};
        struct state states[STATES];
        for (uint32_t i = 0; i < STATES; i++) {
            part[(i + (uint32_t)order) % PARTS] += 10;
            states[i] = state_make(f, i + 1, part);
        }
        for (int i = 0; i < STATES; i++) {
            if (states[free_at[i]].root) state_free(&states[free_at[i]]);
            for (int k = 0; k < STATES; k++) state_check(&states[k]);
        }
        for (int i = 0; i < STATES; i++) state_free(&states[i]);
        assert_int_equal(pool_stats(f->pool).nodes, 0);
    }
}

static void test_random_updates_and_releases(void **state)
{
    enum { HELD = 6, ROUNDS = 4000 };
    struct fixture *f = *state;
    struct random r = random_start("loans");
    struct state held[HELD] = {{NULL, NULL}};
    uint32_t part[PARTS] = {0}, lent = 0;
    for (uint32_t version = 1; version <= ROUNDS; version++) {
        struct state *at = &held[random_below(&r, HELD)];
        state_check(at);
        state_free(at);
        for (int i = 0; i < PARTS; i++) {
            if (random_below(&r, 4) == 0) part[i] = random_below(&r, 3);
        }
        /* Now and then an old version comes again, which another state has taken over from. */
        uint32_t back = version > 10 && random_below(&r, 8) == 0 ? random_below(&r, 5) : 0;
        *at = state_make(f, version - back, part);
        lent += !loan_is_free(at->root);
    }
    for (int i = 0; i < HELD; i++) {
        for (int k = i; k < HELD; k++) state_check(&held[k]);
        state_free(&held[i]);
    }
    assert_true(lent > 0);
    assert_int_equal(pool_stats(f->pool).nodes, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_update_counts_nothing_for_what_it_has_of_the_last_state),
        TEST(test_a_second_heir_counts_its_own),
        TEST(test_states_are_freed_in_any_order),
        TEST(test_random_updates_and_releases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
