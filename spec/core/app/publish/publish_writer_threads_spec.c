/* core/app/publish/publish_writer.c and publish_state.c: what the thread does where NATS refuses for good, is
 * slow or does not answer. With a bucket in the memory of this program, which no loop needs to run for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/publish/publish_internal.h"
#include "base/mem.h"
#include "engine/bucket/bucket_key.h"
#include "kube/kinds/catalogue.h"

enum { FAKES = 2, PATIENCE_MS = 20000 };

/* Moved by the test, read by the thread. */
static _Atomic int64_t aged_ms;

static int64_t now_ms(void)
{
    return clock_now_ms(clock_real()) + atomic_load(&aged_ms);
}

static int64_t read_aged(struct clock *clock)
{
    return now_ms();
}

static struct clock aged = {.now_ms = read_aged};

/* A bucket with keys of a kind that nobody publishes now. */
struct fake {
    /* Set before the start. */
    const char *refused_key; /* writes of it fail */
    uint64_t key_count;
    int read_ms, get_ms; /* of each key */
    bool get_fails;
    int reads_failing; /* so many of the first reads of keys fail */
    uint64_t purged;   /* so many of the keys are gone once they are to be read */
    bool is_black;     /* reads of keys return only once `is_black` is over */
    bool are_marks;    /* the keys are of deleted objects */
    bool expires;
    /* Of the thread. */
    uint64_t last, given;
    char key[64], record[4096];
    /* Read by the test. */
    atomic_int inspects, gets, refused, deleted, records, records_while_read, ended, levels, is_held,
        is_let_go;
    atomic_int forgotten;  /* marks */
    _Atomic uint64_t told; /* sequence before which nobody reads on */
    _Atomic int64_t told_ms, forgot_ms;
    size_t value_max;
};

static struct fake fakes[FAKES];

static void *fake_open(const struct stream_settings *settings, struct stream_error *error)
{
    return &fakes[*settings->path - '0'];
}

static enum bucket_outcome fake_inspect(void *client, struct bucket_state *state, struct stream_error *error)
{
    struct fake *fake = client;
    atomic_fetch_add(&fake->inspects, 1);
    *state = (struct bucket_state){.created = 1, .last = fake->last, .expires = fake->expires};
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
    snprintf(error->text, sizeof error->text, "no responders");
    if (fake->reads_failing-- > 0) return BUCKET_FAILED;
    *pending = fake->key_count;
    return BUCKET_DONE;
}

static enum bucket_next fake_next(void *client, int timeout_ms, struct bucket_message *message,
                                  struct stream_error *error)
{
    struct fake *fake = client;
    usleep((useconds_t)fake->read_ms * 1000);
    atomic_store(&fake->is_held, fake->is_black);
    while (fake->is_black && !atomic_load(&fake->is_let_go)) usleep(1000);
    if (fake->given + fake->purged == fake->key_count) {
        atomic_fetch_add(&fake->levels, 1);
        return BUCKET_NEXT_LEVEL;
    }
    snprintf(fake->key, sizeof fake->key, "objects._.v1.pods.default.p%d", (int)fake->given++);
    *message = (struct bucket_message){.key = fake->key,
                                       .version = "1",
                                       .sequence = fake->given,
                                       .pending = fake->key_count - fake->given,
                                       .is_deleted = fake->are_marks};
    if (message->pending == 0) atomic_store(&fake->records_while_read, atomic_load(&fake->records));
    return BUCKET_NEXT_MESSAGE;
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
        if (strcmp(messages[i].key, BUCKET_KEY_FORGOTTEN) == 0) {
            atomic_store(&fake->told_ms, now_ms());
            atomic_store(&fake->told, strtoull(messages[i].version, NULL, 10));
        }
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
    struct fake *fake = client;
    atomic_store(&fake->forgot_ms, now_ms());
    atomic_fetch_add(&fake->forgotten, 1);
    return BUCKET_DONE;
}

static size_t fake_value_max(void *client)
{
    const struct fake *fake = client;
    return fake->value_max ? fake->value_max : 1 << 20;
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
    atomic_store(&aged_ms, 0);
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
        .loop = loop, .module = &module, .target = &targets[fake], .identity = "me", .clock = &aged});
}

static void await_count(atomic_int *count, int wanted)
{
    int64_t until_ms = clock_now_ms(clock_real()) + PATIENCE_MS;
    while (atomic_load(count) < wanted && clock_now_ms(clock_real()) < until_ms) usleep(1000);
    assert_true(atomic_load(count) >= wanted);
}

static void test_a_write_that_is_refused_for_good_is_tried_once_a_second(void **state)
{
    struct catalogue *none = catalogue_new();
    struct publisher *publisher = publisher_of(0);
    catalogue_finish(none);
    fakes[0].refused_key = BUCKET_KEY_KINDS;
    publisher_set_catalogue(publisher, none);
    int64_t start_ms = clock_now_ms(clock_real());
    publisher_start(publisher);
    await_count(&fakes[0].refused, 3);
    assert_true(clock_now_ms(clock_real()) - start_ms >= 1900);
    /* The end waits for no success. */
    int64_t end_ms = clock_now_ms(clock_real());
    publisher_end(publisher, NULL);
    assert_true(clock_now_ms(clock_real()) - end_ms < 900);
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
    int64_t end_ms = clock_now_ms(clock_real());
    publisher_end(publisher, &totals);
    assert_true(clock_now_ms(clock_real()) - end_ms < 5000);
    assert_in_range(totals.deleted, 1, 500);
    /* The next publisher need not wait for it. */
    assert_true(atomic_load(&fakes[0].ended));
}

static void age(struct publisher *publisher, int64_t ms)
{
    atomic_fetch_add(&aged_ms, ms);
    pthread_mutex_lock(&publisher->lock);
    publisher->has_work = true;
    pthread_cond_signal(&publisher->changed);
    pthread_mutex_unlock(&publisher->lock);
}

/* Long enough for a record, which is written each 5 s of the clock that was moved. */
static void age_and_await(struct publisher *publisher, int64_t ms)
{
    int records = atomic_load(&fakes[0].records);
    age(publisher, ms);
    await_count(&fakes[0].records, records + 1);
    /* Marks are looked at behind the record. */
    age(publisher, 5000);
    await_count(&fakes[0].records, records + 2);
}

static void test_marks_are_forgotten_long_after_readers_were_told(void **state)
{
    enum { MINUTE_MS = 60000 };
    struct publisher *publisher = publisher_of(0);
    fakes[0].key_count = 3;
    fakes[0].are_marks = true;
    publisher_start(publisher);
    await_count(&fakes[0].records, 2);
    age_and_await(publisher, 29 * MINUTE_MS);
    assert_int_equal(atomic_load(&fakes[0].told), 0);
    age_and_await(publisher, 2 * MINUTE_MS);
    assert_int_equal(atomic_load(&fakes[0].told), 3);
    assert_int_equal(atomic_load(&fakes[0].forgotten), 0);
    age_and_await(publisher, 29 * MINUTE_MS);
    assert_int_equal(atomic_load(&fakes[0].forgotten), 0);
    age_and_await(publisher, 2 * MINUTE_MS);
    await_count(&fakes[0].forgotten, 3);
    assert_true(atomic_load(&fakes[0].forgot_ms) - atomic_load(&fakes[0].told_ms) >= 30 * MINUTE_MS);
    age_and_await(publisher, 120 * MINUTE_MS);
    assert_int_equal(atomic_load(&fakes[0].forgotten), 3);
    publisher_end(publisher, NULL);
}

/* One that slept for hours has told nobody. */
static void test_marks_that_no_reader_was_told_of_stay(void **state)
{
    enum { HOUR_MS = 3600000 };
    struct publisher *publisher = publisher_of(0);
    fakes[0].key_count = 3;
    fakes[0].are_marks = true;
    publisher_start(publisher);
    await_count(&fakes[0].records, 2);
    age_and_await(publisher, 5 * HOUR_MS);
    assert_int_equal(atomic_load(&fakes[0].told), 3);
    assert_int_equal(atomic_load(&fakes[0].forgotten), 0);
    age_and_await(publisher, HOUR_MS);
    await_count(&fakes[0].forgotten, 3);
    publisher_end(publisher, NULL);
}

static void test_keys_that_go_while_they_are_read_do_not_hold_up_the_start(void **state)
{
    struct publisher *publisher = publisher_of(0);
    struct publisher_totals totals;
    fakes[0].key_count = 3;
    fakes[0].purged = 1;
    publisher_start(publisher);
    await_count(&fakes[0].deleted, 2);
    assert_true(publisher_end(publisher, &totals));
    assert_int_equal(totals.deleted, 2);
    assert_int_equal(atomic_load(&fakes[0].levels), 1);
}

static void test_a_failure_to_read_keys_is_over_once_they_are_read(void **state)
{
    struct publisher *publisher = publisher_of(0);
    struct publisher_status status;
    fakes[0].key_count = 3;
    fakes[0].reads_failing = 1;
    publisher_start(publisher);
    await_count(&fakes[0].deleted, 3);
    publisher_get_status(publisher, &status);
    assert_string_equal(status.error, "");
    assert_false(status.fails);
    assert_true(publisher_end(publisher, NULL));
}

static void test_the_end_does_not_wait_for_a_bucket_that_does_not_answer(void **state)
{
    struct publisher *publisher = publisher_of(0);
    fakes[0].key_count = 3;
    fakes[0].is_black = true;
    publisher_start(publisher);
    await_count(&fakes[0].is_held, 1);
    int64_t end_ms = clock_now_ms(clock_real());
    assert_false(publisher_end(publisher, NULL));
    assert_true(clock_now_ms(clock_real()) - end_ms < 6000);
    /* Whatever comes from there, the thread does nothing with it. */
    int records = atomic_load(&fakes[0].records);
    atomic_store(&fakes[0].is_let_go, 1);
    usleep(100000);
    assert_int_equal(atomic_load(&fakes[0].records), records);
}

static void test_a_bucket_whose_messages_expire_is_not_written(void **state)
{
    struct publisher *publisher = publisher_of(0);
    fakes[0].expires = true;
    publisher_start(publisher);
    await_count(&fakes[0].inspects, 2);
    assert_true(publisher_end(publisher, NULL));
    assert_int_equal(atomic_load(&fakes[0].records), 0);
}

static void test_what_is_too_large_is_encoded_and_the_rest_is_refused(void **state)
{
    struct publisher *publisher = publisher_of(0);
    struct buf *text = &publisher->batch.text;
    publisher->client = &fakes[0];
    fakes[0].value_max = 1000;
    for (int i = 0; i < 1000; i++) buf_putc(text, 'x');
    assert_string_equal(publish_fit(publisher, 0), "");
    assert_int_equal(text->len, 1000);
    buf_putc(text, 'x');
    assert_string_equal(publish_fit(publisher, 1), "");
    assert_string_equal(publish_fit(publisher, 0), "zstd");
    assert_in_range(text->len, 1, 1000);
    text->len = 0;
    uint64_t random = 1;
    for (int i = 0; i < 2000; i++) buf_putc(text, (char)((random = random * 6364136223846793005u + 1) >> 56));
    assert_null(publish_fit(publisher, 0));
    assert_int_equal(text->len, 2000);
    publisher_end(publisher, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_write_that_is_refused_for_good_is_tried_once_a_second, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_long_work_is_not_silent, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_question_without_an_answer_is_the_last_one, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_end_does_not_wait_until_all_is_deleted, setup, teardown),
        cmocka_unit_test_setup_teardown(test_marks_are_forgotten_long_after_readers_were_told, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_marks_that_no_reader_was_told_of_stay, setup, teardown),
        cmocka_unit_test_setup_teardown(test_keys_that_go_while_they_are_read_do_not_hold_up_the_start, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_bucket_whose_messages_expire_is_not_written, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_too_large_is_encoded_and_the_rest_is_refused, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_failure_to_read_keys_is_over_once_they_are_read, setup,
                                        teardown),
        /* The last one: its thread stays. */
        cmocka_unit_test_setup(test_the_end_does_not_wait_for_a_bucket_that_does_not_answer, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
