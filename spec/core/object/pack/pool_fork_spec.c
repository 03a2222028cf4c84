/* A forked child reads the parent's objects and writes nothing in their pool. */
#include "core/object/support/objects.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "object/pack/intern.h"
#include "object/value/dict.h"

static struct fixture *parent;
static struct root *root;

/* Runs `child` in a child; its result is the exit code. */
static int in_child(int (*child)(void))
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) _exit(child());
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int read_and_count(void)
{
    uint32_t before = atomic_load(&root->refs);
    struct buf out = {0};
    json_write(&out, root_value(root));
    for (int i = 0; i < 100; i++) root_ref(root);
    for (int i = 0; i < 200; i++) root_unref(root); /* more than there are: nothing is counted */
    if (atomic_load(&root->refs) != before || parent->pool->released != 0) return 1;
    return strstr(buf_text(&out), "\"app\":\"a-web-shop\"") ? 0 : 2;
}

static void test_references_are_not_counted_in_a_child(void **state)
{
    parent = *state;
    root = pack_ok(parent->packer, "{\"metadata\":{\"name\":\"x\",\"labels\":{\"app\":\"a-web-shop\"}}}");
    assert_int_equal(in_child(read_and_count), 0);
    root_unref(root);
}

/* A pool that the child makes is its own, and the parent's dictionary grows on for it. */
static int use_own_pool(void)
{
    struct fixture own;
    fixture_open(&own);
    struct root *mine = pack_ok(own.packer, "{\"metadata\":{\"name\":\"y\"},\"a key of the child\":7}");
    struct root *again = root_ref(mine);
    if (value_int(value_field(root_value(mine), STR("a key of the child"))) != 7) return 1;
    root_unref(mine);
    if (pool_stats(own.pool).roots != 1) return 2;
    root_unref(again);
    fixture_close(&own);
    return dict_find(STR("a key of the child")) == DICT_NONE ? 3 : 0;
}

static void test_a_child_may_have_a_pool_of_its_own(void **state)
{
    assert_int_equal(in_child(use_own_pool), 0);
    assert_int_equal(dict_find(STR("a key of the child")), DICT_NONE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_references_are_not_counted_in_a_child),
        TEST(test_a_child_may_have_a_pool_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
