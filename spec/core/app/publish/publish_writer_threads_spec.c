/* core/app/publish/publish_writer.c and publish_state.c: what the thread does where NATS refuses for good, is
 * slow or does not answer. With a bucket in the memory of this program, which no loop needs to run for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/publish/publish_internal.h"
#include "base/mem.h"
#include "engine/bucket/bucket_key.h"
#include "kube/kinds/catalogue.h"

enum { FAKES = 2, PATIENCE_MS = 20000 };

/* A bucket with keys of a kind that nobody publishes now. */
struct fake {
    /* Set before the start. */
    const char *refused_key; /* writes of it fail */
    uint64_t key_count;
    int read_ms, get_ms; /* of each key */
    bool get_fails;
    /* Of the thread. */
    uint64_t last, given;
    char key[64], record[4096];
    /* Read by the test. */
    atomic_int gets, refused, deleted, records, records_while_read, ended;
};

static struct fake fakes[FAKES];

static void *fake_open(const struct stream_settings *settings, struct stream_error *error)
{
    return &fakes[*settings->path - '0'];
}

static enum bucket_outcome fake_inspect(void *client, struct bucket_state *state, struct stream_error *error)
{
    const struct fake *fake = client;
    *state = (struct bucket_state){.created = 1, .last = fake->last};
    return BUCKET_DONE;
}

static enum bucket_outcome fake_create(void *client, int replicas, struct stream_error *error)
{
    return BUCKET_DONE;
}

static enum bucket_outcome fake_read(void *client, const char *filter, uint64_t after, int heads_only,
                                     uint64_t *pending, struct stream_error *error)
{
    struct fake *fake = client;
    fake->given = 0;
    *pending = fake->key_count;
    return BUCKET_DONE;
}

static int fake_next(void *client, int timeout_ms, struct bucket_message *message, struct stream_error *error)
{
    struct fake *fake = client;
    usleep((useconds_t)fake->read_ms * 1000);
    snprintf(fake->key, sizeof fake->key, "objects._.v1.pods.default.p%d", (int)fake->given++);
    *message = (struct bucket_message){
        .key = fake->key, .version = "1", .sequence = fake->given, .pending = fake->key_count - fake->given};
    if (message->pending == 0) atomic_store(&fake->records_while_read, atomic_load(&fake->records));
    return 1;
}

static void fake_stop(void *client) {}

static enum bucket_outcome fake_get(void *client, const char *key, struct bucket_message *message,
                                    struct stream_error *error)
{
    struct fake *fake = client;
    *message = (struct bucket_message){
        .key = key, .value = fake->record, .size = strlen(fake->record), .version = ""};
    if (strcmp(key, BUCKET_KEY_PUBLISHER) == 0) return *fake->record ? BUCKET_DONE : BUCKET_MISSING;
    atomic_fetch_add(&fake->gets, 1);
    usleep((useconds_t)fake->get_ms * 1000);
    return fake->get_fails ? BUCKET_FAILED : BUCKET_DONE;
}

static enum bucket_outcome fake_write(void *client, const struct bucket_message *messages, size_t count,
                                      uint64_t *last, struct stream_error *error)
{
    struct fake *fake = client;
    for (size_t i = 0; i < count; i++) {
        if (fake->refused_key && strcmp(messages[i].key, fake->refused_key) == 0) {
            snprintf(error->text, sizeof error->text, "maximum bytes exceeded");
            atomic_fetch_add(&fake->refused, 1);
            return BUCKET_FAILED;
        }
        fake->last++;
        atomic_fetch_add(&fake->deleted, messages[i].is_deleted);
        if (strcmp(messages[i].key, BUCKET_KEY_PUBLISHER) != 0) continue;
        snprintf(fake->record, sizeof fake->record, "%.*s", (int)messages[i].size, messages[i].value);
        atomic_store(&fake->ended, strstr(fake->record, "{\"ended\":true") != NULL);
        atomic_fetch_add(&fake->records, 1);
    }
    *last = fake->last;
    return BUCKET_DONE;
}

static enum bucket_outcome fake_forget(void *client, const char *key, uint64_t sequence,
                                       struct stream_error *error)
{
    return BUCKET_DONE;
}

static size_t fake_value_max(void *client)
{
    return 1 << 20;
}

static void fake_close(void *client) {}

static const struct bucket_module module = {BUCKET_MODULE_VERSION,
                                            fake_open,
                                            fake_inspect,
                                            fake_create,
                                            fake_read,
                                            fake_next,
                                            fake_stop,
                                            fake_get,
                                            fake_write,
                                            fake_forget,
                                            fake_value_max,
                                            fake_close};

/* --- publishers */

static struct loop *loop;

static int setup(void **state)
{
    memset(fakes, 0, sizeof fakes);
    loop = loop_new_by_hand(0);
    return 0;
}

static int teardown(void **state)
{
    loop_free(loop);
    return 0;
}

static struct publisher *publisher_of(int fake)
{
    static char names[FAKES][2] = {"0", "1"};
    static struct bucket_target targets[FAKES];
    targets[fake] =
        (struct bucket_target){.servers = names[fake], .bucket = names[fake], .shown = names[fake]};
    return publisher_new(&(const struct publisher_options){
        .loop = loop, .module = &module, .target = &targets[fake], .identity = "me"});
}

static void await_count(atomic_int *count, int wanted)
{
    int64_t until_ms = publish_now_ms() + PATIENCE_MS;
    while (atomic_load(count) < wanted && publish_now_ms() < until_ms) usleep(1000);
    assert_true(atomic_load(count) >= wanted);
}

static void test_a_write_that_is_refused_for_good_is_tried_once_a_second(void **state)
{
    struct catalogue *none = catalogue_new();
    struct publisher *publisher = publisher_of(0);
    catalogue_finish(none);
    fakes[0].refused_key = BUCKET_KEY_KINDS;
    publisher_set_catalogue(publisher, none);
    int64_t start_ms = publish_now_ms();
    publisher_start(publisher);
    await_count(&fakes[0].refused, 3);
    assert_true(publish_now_ms() - start_ms >= 1900);
    /* The end waits for no success. */
    int64_t end_ms = publish_now_ms();
    publisher_end(publisher, NULL);
    assert_true(publish_now_ms() - end_ms < 900);
    assert_int_equal(atomic_load(&fakes[0].refused), 3);
    catalogue_free(none);
}

static void test_long_work_is_not_silent(void **state)
{
    struct publisher *reads = publisher_of(0), *deletes = publisher_of(1);
    fakes[0].key_count = fakes[1].key_count = 56;
    fakes[0].read_ms = fakes[1].get_ms = 100;
    publisher_start(reads);
    publisher_start(deletes);
    await_count(&fakes[0].deleted, 56);
    await_count(&fakes[1].deleted, 56);
    publisher_end(reads, NULL);
    publisher_end(deletes, NULL);
    /* That of the place, and another one 5 s later. */
    assert_int_equal(atomic_load(&fakes[0].records_while_read), 2);
    /* Beside these two the first one of its work, and that of the end. */
    assert_int_equal(atomic_load(&fakes[1].records_while_read), 1);
    assert_int_equal(atomic_load(&fakes[1].records), 4);
}

static void test_a_question_without_an_answer_is_the_last_one(void **state)
{
    struct publisher *publisher = publisher_of(0);
    struct publisher_totals totals;
    fakes[0].key_count = 50;
    fakes[0].get_ms = 20;
    fakes[0].get_fails = true;
    publisher_start(publisher);
    await_count(&fakes[0].deleted, 50);
    publisher_end(publisher, &totals);
    assert_int_equal(atomic_load(&fakes[0].gets), 1);
    assert_int_equal(totals.deleted, 50);
    assert_true(atomic_load(&fakes[0].ended));
}

static void test_the_end_does_not_wait_until_all_is_deleted(void **state)
{
    struct publisher *publisher = publisher_of(0);
    struct publisher_totals totals;
    fakes[0].key_count = 1000;
    fakes[0].get_ms = 20;
    publisher_start(publisher);
    await_count(&fakes[0].gets, 3);
    int64_t end_ms = publish_now_ms();
    publisher_end(publisher, &totals);
    assert_true(publish_now_ms() - end_ms < 5000);
    assert_in_range(totals.deleted, 1, 500);
    /* The next publisher need not wait for it. */
    assert_true(atomic_load(&fakes[0].ended));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_write_that_is_refused_for_good_is_tried_once_a_second, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_long_work_is_not_silent, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_question_without_an_answer_is_the_last_one, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_end_does_not_wait_until_all_is_deleted, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
