/* core/engine/bucket/bucket_reader.c: a state whose last message goes while it is read, readers that fell
 * behind, and a bucket that does not answer. With a bucket in the memory of this program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "engine/bucket/bucket_key.h"
#include "engine/bucket/bucket_reader.h"

/* Answers of a bucket, one step for each call of `next`. */
struct step {
    enum bucket_next next;
    uint64_t sequence, pending;
    int wait_ms;
};

/* Set by the test, read by the threads of readers; `at` moves on there. */
static struct script {
    const struct step *_Atomic steps;
    atomic_size_t at, count;
    const char *_Atomic forgotten;
    atomic_int is_black, is_held, has_ended;
} script;

static void *open_script(const struct stream_settings *settings, struct stream_error *error)
{
    return &script;
}

static enum bucket_outcome inspect(void *client, struct bucket_state *state, struct stream_error *error)
{
    *state = (struct bucket_state){.created = 1, .last = 100};
    return BUCKET_DONE;
}

static enum bucket_outcome read_script(void *client, const char *filter, uint64_t after, int heads_only,
                                       uint64_t *pending, struct stream_error *error)
{
    *pending = script.count;
    return BUCKET_DONE;
}

static enum bucket_next next(void *client, int timeout_ms, struct bucket_message *message,
                             struct stream_error *error)
{
    while (atomic_load(&script.is_black)) {
        atomic_store(&script.is_held, 1);
        usleep(1000);
    }
    if (script.at == script.count) {
        usleep(1000);
        return BUCKET_NEXT_NONE;
    }
    const struct step *step = &atomic_load(&script.steps)[atomic_fetch_add(&script.at, 1)];
    usleep((useconds_t)step->wait_ms * 1000);
    *message = (struct bucket_message){.key = "objects._.v1.pods.default.a",
                                       .value = "{}",
                                       .size = 2,
                                       .version = "1",
                                       .encoding = "",
                                       .sequence = step->sequence,
                                       .pending = step->pending};
    return step->next;
}

static void stop(void *client) {}

static enum bucket_outcome get(void *client, const char *key, struct bucket_message *message,
                               struct stream_error *error)
{
    const char *forgotten = atomic_load(&script.forgotten);
    if (!forgotten || strcmp(key, BUCKET_KEY_FORGOTTEN) != 0) return BUCKET_MISSING;
    *message = (struct bucket_message){.key = key, .version = forgotten, .encoding = ""};
    return BUCKET_DONE;
}

static void close_script(void *client) {}

static const struct bucket_module module = {.open = open_script,
                                            .inspect = inspect,
                                            .read = read_script,
                                            .next = next,
                                            .stop = stop,
                                            .get = get,
                                            .close = close_script};

/* --- what is delivered */

static char heard[256];

static void hear(const char *what)
{
    size_t n = strlen(heard);
    snprintf(heard + n, sizeof heard - n, "%s ", what);
}

static void on_opened(void *ctx, int64_t created) {}

static void on_message(void *ctx, const struct bucket_message *message, bool is_initial)
{
    char text[64];
    assert_int_equal(message->size, 2);
    snprintf(text, sizeof text, "%s%d", is_initial ? "first" : "then", (int)message->sequence);
    hear(text);
}

static void on_caught_up(void *ctx, uint64_t sequence)
{
    char text[64];
    snprintf(text, sizeof text, "all%d", (int)sequence);
    hear(text);
}

static void on_ended(void *ctx, const struct err *err)
{
    hear(*err->reason ? err->reason : "ended");
}

static struct loop *loop;
static struct bucket_readers readers;

static struct bucket_reader *start(const struct step *steps, size_t count, uint64_t after)
{
    static const struct bucket_reader_sink sink = {on_opened, on_message, on_caught_up, on_ended};
    static char name[] = "b";
    static struct bucket_target target = {.servers = name, .bucket = name};
    *heard = '\0';
    script.steps = steps;
    script.count = count;
    script.at = 0;
    return bucket_reader_start(&readers, &(const struct bucket_reader_options){.module = &module,
                                                                               .target = &target,
                                                                               .filter = "objects.>",
                                                                               .after = after,
                                                                               .created = 1,
                                                                               .behind_ms = 50,
                                                                               .loop = loop,
                                                                               .sink = &sink});
}

static void await_heard(const char *what)
{
    int64_t until_ms = clock_now_ms(clock_real()) + 20000;
    while (!strstr(heard, what) && clock_now_ms(clock_real()) < until_ms) {
        loop_once(loop, false);
        usleep(1000);
    }
    if (!strstr(heard, what)) fail_msg("heard only: %s", heard);
}

static int setup(void **state)
{
    memset(&script, 0, sizeof script);
    loop = loop_new();
    return 0;
}

static int teardown(void **state)
{
    bucket_readers_clear(&readers);
    loop_free(loop);
    return 0;
}

static void test_a_state_is_complete_though_its_last_message_went(void **state)
{
    static const struct step steps[] = {
        {BUCKET_NEXT_MESSAGE, 7, 1, 0}, {BUCKET_NEXT_LEVEL, 100, 0, 0}, {BUCKET_NEXT_MESSAGE, 101, 0, 0}};
    start(steps, ARRAY_LEN(steps), 0);
    await_heard("then101");
    assert_string_equal(heard, "first7 all100 then101 ");
}

static void test_a_state_without_objects_is_one_to_read_on_from(void **state)
{
    start(NULL, 0, 0);
    await_heard("all100");
}

static void test_a_reader_that_was_behind_while_marks_went_reads_the_state_again(void **state)
{
    static const struct step steps[] = {{BUCKET_NEXT_MESSAGE, 51, 9, 0}, {BUCKET_NEXT_MESSAGE, 60, 8, 100}};
    script.forgotten = "50";
    start(steps, ARRAY_LEN(steps), 50);
    await_heard("then51");
    script.forgotten = "55";
    await_heard("Expired");
}

static void test_one_that_was_behind_while_none_went_reads_on(void **state)
{
    static const struct step steps[] = {{BUCKET_NEXT_MESSAGE, 51, 9, 0},
                                        {BUCKET_NEXT_MESSAGE, 60, 8, 100},
                                        {BUCKET_NEXT_LEVEL, 70, 0, 0},
                                        {BUCKET_NEXT_MESSAGE, 71, 0, 100}};
    script.forgotten = "50";
    start(steps, ARRAY_LEN(steps), 50);
    await_heard("then71");
    assert_string_equal(heard, "then51 then60 then71 ");
}

static void test_one_that_is_level_may_be_idle_for_as_long_as_it_likes(void **state)
{
    static const struct step steps[] = {{BUCKET_NEXT_LEVEL, 70, 0, 0}, {BUCKET_NEXT_MESSAGE, 71, 0, 100}};
    script.forgotten = "50";
    start(steps, ARRAY_LEN(steps), 50);
    while (script.at < 1) usleep(1000);
    script.forgotten = "70";
    await_heard("then71");
    assert_null(strstr(heard, "Expired"));
}

static void test_the_end_does_not_wait_for_a_bucket_that_does_not_answer(void **state)
{
    atomic_store(&script.is_black, 1);
    for (int i = 0; i < 5; i++) start(NULL, 0, 0);
    while (!atomic_load(&script.is_held)) usleep(1000);
    int64_t begin_ms = clock_now_ms(clock_real());
    bucket_readers_clear(&readers);
    assert_true(clock_now_ms(clock_real()) - begin_ms < 2500);
    assert_true(LIST_EMPTY(&readers));
    atomic_store(&script.is_black, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_state_is_complete_though_its_last_message_went, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_state_without_objects_is_one_to_read_on_from, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_reader_that_was_behind_while_marks_went_reads_the_state_again,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_one_that_was_behind_while_none_went_reads_on, setup, teardown),
        cmocka_unit_test_setup_teardown(test_one_that_is_level_may_be_idle_for_as_long_as_it_likes, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_the_end_does_not_wait_for_a_bucket_that_does_not_answer, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
