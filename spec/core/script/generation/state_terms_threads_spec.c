/* core/script/generation/state_keep_read.c: states of a script that takes part in an election, which are read
 * in each term, by a store that the spec plays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/script/support/election.h"
#include "script/generation/state_keep.h"
#include "script/view/state_store.h"

enum { WAIT_MS = 20000 };

static const char script_text[] = "k8s = require 'k8s'\n"
                                  "k8s.leader { duration = 1, renew = 0.5, retry = 0.01 }\n"
                                  "kept = k8s.state('kept', { keep = 'configmap', init = { n = 0 } })\n";

static struct state_op *under_way;

static void run(struct state_store *store, struct state_op *op)
{
    under_way = op;
}

static void clear(struct state_store *store)
{
    state_store_clear(store);
}

static struct state_store store = {.keep = "configmap", .max = 1000, .run = run, .free = clear};

static int setup(void **state)
{
    cluster_setup(state);
    struct cluster *c = *state;
    under_way = NULL;
    state_store_init(&store);
    c->host.state_maps = &store;
    election_open(c);
    return 0;
}

static int teardown(void **state)
{
    struct cluster *c = *state;
    if (c->script) script_free(c->script);
    c->script = NULL;
    state_store_free(&store);
    store.slots = NULL;
    store.claims = NULL;
    store.slot_count = store.claim_count = 0;
    election_close(c);
    return cluster_teardown(state);
}

static const struct state_op *await_op(struct cluster *c)
{
    for (int64_t end = clock_now_ms(clock_real()) + WAIT_MS; !under_way; election_turn(c))
        assert_true(clock_now_ms(clock_real()) < end);
    return under_way;
}

static void end_op(bool ok)
{
    struct state_op *op = under_way;
    under_way = NULL;
    op->ok = ok || state_op_refuse_fence(op);
    state_op_end(op);
}

static void await_end(struct cluster *c, struct fence *fence)
{
    for (int64_t end = clock_now_ms(clock_real()) + WAIT_MS; fence_is_open(fence); election_turn(c))
        assert_true(clock_now_ms(clock_real()) < end);
}

static const char *error_of(const struct cluster *c)
{
    struct state_keep_status status;
    state_keep_get_status(c->script, 0, &status);
    return status.error;
}

static void test_a_read_belongs_to_its_term(void **state)
{
    struct cluster *c = *state;
    c->script = cluster_load(c, "terms", script_text);
    election_start(c);
    const struct state_op *op = await_op(c);
    assert_int_equal(op->kind, STATE_TAKE);
    assert_non_null(op->fence);
    struct fence *fence = fence_ref(op->fence);
    assert_true(fence_is_open(fence));
    election_set(ELECTION_TAKEN);
    await_end(c, fence);
    end_op(false);
    assert_string_equal(error_of(c), "");
    assert_ask(c, c->script, "return k8s.is_leader()", "false");
    election_set(ELECTION_GRANTS);
    assert_ptr_not_equal(await_op(c)->fence, fence);
    end_op(true);
    await_ask(c, "return k8s.is_leader()", "true");
    fence_unref(fence);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_a_read_belongs_to_its_term),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
