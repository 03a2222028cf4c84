/* core/engine/state_files.c, state_file.c: operations on files of states, on the thread that does them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/must.h"
#include "engine/state_files.h"

struct bench {
    char folder[64];
    struct loop *loop;
    struct state_store *store;
    struct state_slot *slot;
    /* Of the last operation. */
    bool ok, found;
    struct err err;
    char text[64], where[128];
    unsigned ended;
};

static void on_done(void *ctx, const struct state_op *op)
{
    struct bench *b = ctx;
    b->ok = op->ok;
    b->found = op->found;
    b->err = op->err;
    snprintf(b->text, sizeof b->text, "%.*s", STR_ARG(buf_slice(&op->bytes)));
    snprintf(b->where, sizeof b->where, "%s", op->where);
    b->ended++;
}

static void start(struct bench *b, enum state_op_kind kind, const char *text, struct fence *fence)
{
    struct buf bytes = {0};
    if (text) buf_puts(&bytes, text);
    state_op_start(b->store, kind, b->slot, text ? &bytes : NULL, fence, on_done, b);
}

static bool run(struct bench *b, enum state_op_kind kind, const char *text, struct fence *fence)
{
    unsigned ended = b->ended;
    start(b, kind, text, fence);
    if (b->ended == ended) b->store->settle(b->store);
    assert_int_equal(b->ended, ended + 1);
    return b->ok;
}

static const char *path_of(const struct bench *b, const char *name)
{
    static char path[160];
    snprintf(path, sizeof path, "%s/my-script/%s", b->folder, name);
    return path;
}

static void put(const struct bench *b, const char *name, const char *text)
{
    char fresh[160];
    strcpy(fresh, path_of(b, "other"));
    FILE *file = fopen(fresh, "w");
    must(file && fputs(text, file) >= 0 && fclose(file) == 0 && rename(fresh, path_of(b, name)) == 0);
}

static void assert_file(const struct bench *b, const char *name, const char *expected)
{
    struct buf text = {0};
    struct err err;
    if (!file_read(path_of(b, name), 1000, &text, &err)) fail_msg("%s", err.text);
    assert_string_equal(buf_text(&text), expected);
    buf_clear(&text);
}

static int setup(void **state)
{
    static struct bench b;
    struct err err;
    b = (struct bench){.folder = "/tmp/kubelua-spec-XXXXXX"};
    must(mkdtemp(b.folder));
    b.loop = loop_new();
    b.store = state_files_new(b.folder, b.loop, &err);
    must(b.store);
    b.slot = state_store_slot(b.store, "scripts/My Script", "seen");
    *state = &b;
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;
    char command[100];
    state_store_free(b->store);
    loop_free(b->loop);
    snprintf(command, sizeof command, "rm -rf %s", b->folder);
    return system(command);
}

static void test_what_is_written_is_read(void **state)
{
    struct bench *b = *state;
    assert_true(run(b, STATE_READ, NULL, NULL) && !b->found);
    assert_true(run(b, STATE_WRITE, "one", NULL));
    assert_true(run(b, STATE_WRITE, "two", NULL));
    assert_true(run(b, STATE_READ, NULL, NULL) && b->found);
    assert_string_equal(b->text, "two");
    struct stat st;
    assert_int_equal(stat(path_of(b, "seen.state"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(access(path_of(b, ".seen.state.new"), F_OK), -1);
}

static void test_writes_that_wait_are_done_in_order_before_a_read(void **state)
{
    struct bench *b = *state;
    char text[20];
    for (int i = 0; i < 20; i++) {
        snprintf(text, sizeof text, "%d", i);
        start(b, STATE_WRITE, text, NULL);
    }
    start(b, STATE_READ, NULL, NULL);
    assert_int_equal(b->ended, 21);
    assert_string_equal(b->text, "19");
}

static void test_what_others_changed_is_not_overwritten(void **state)
{
    struct bench *b = *state;
    assert_true(run(b, STATE_WRITE, "one", NULL));
    put(b, "seen.state", "xyz");
    assert_false(run(b, STATE_WRITE, "two", NULL));
    assert_string_equal(b->err.reason, "Conflict");
    assert_true(b->slot->is_foreign);
    assert_false(run(b, STATE_MOVE_ASIDE, NULL, NULL));
    assert_file(b, "seen.state", "xyz");
    assert_true(run(b, STATE_READ, NULL, NULL));
    assert_string_equal(b->text, "xyz");
    assert_true(run(b, STATE_WRITE, "two", NULL));
    must(unlink(path_of(b, "seen.state")) == 0);
    assert_false(run(b, STATE_WRITE, "three", NULL));
    assert_string_equal(b->err.reason, "Conflict");
}

static void test_nothing_is_written_behind_a_closed_fence(void **state)
{
    struct bench *b = *state;
    struct fence *fence = fence_new(NULL, INT64_MAX);
    assert_true(run(b, STATE_WRITE, "one", fence));
    fence_close(fence);
    assert_false(run(b, STATE_WRITE, "two", fence));
    assert_string_equal(b->err.reason, "NotLeader");
    assert_false(b->slot->is_foreign);
    assert_file(b, "seen.state", "one");
    fence_unref(fence);
}

static void test_what_is_moved_aside_replaces_nothing(void **state)
{
    struct bench *b = *state;
    for (int i = 1; i <= 3; i++) {
        char name[40], text[20];
        snprintf(text, sizeof text, "number %d", i);
        snprintf(name, sizeof name, "seen.state.aside-%d", i);
        assert_true(run(b, STATE_WRITE, text, NULL));
        assert_true(run(b, STATE_MOVE_ASIDE, NULL, NULL));
        assert_string_equal(b->where, path_of(b, name));
        assert_file(b, name, text);
        assert_true(run(b, STATE_READ, NULL, NULL) && !b->found);
    }
    assert_file(b, "seen.state.aside-1", "number 1");
}

static void test_a_name_is_of_one_script(void **state)
{
    struct bench *b = *state;
    struct err err;
    char place[STATE_PLACE_MAX + 1];
    assert_true(state_store_claim(b->store, "a/Watch_pods", &err));
    assert_true(state_store_claim(b->store, "a/Watch_pods", &err));
    assert_false(state_store_claim(b->store, "b/watch-pods", &err));
    assert_non_null(strstr(err.text, "a/Watch_pods already keeps its states under the name \"watch-pods\""));
    state_store_release(b->store, "a/Watch_pods");
    assert_false(state_store_claim(b->store, "b/watch-pods", &err));
    state_store_release(b->store, "a/Watch_pods");
    assert_true(state_store_claim(b->store, "b/watch-pods", &err));
    state_store_release(b->store, "b/watch-pods");
    state_place_of("x/--", place);
    assert_string_equal(place, "script");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_is_written_is_read, setup, teardown),
        cmocka_unit_test_setup_teardown(test_writes_that_wait_are_done_in_order_before_a_read, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_what_others_changed_is_not_overwritten, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nothing_is_written_behind_a_closed_fence, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_moved_aside_replaces_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_name_is_of_one_script, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
