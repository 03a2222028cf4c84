/* core/streams/nats_bucket.c: what heartbeats of a consumer tell of what was not delivered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "core/streams/support/fake_nats.h"
#include "streams/bucket_module.h"

extern const struct bucket_module kubelua_bucket_module;

static const struct fake_answer answers[] = {
    {"$JS.API.CONSUMER.CREATE.KV_b",
     "{\"type\":\"io.nats.jetstream.api.v1.consumer_create_response\",\"stream_name\":\"KV_b\",\"name\":"
     "\"c\","
     "\"config\":{\"deliver_subject\":\"x\",\"ack_policy\":\"none\"},\"num_pending\":1}"},
    {NULL, NULL}};

/* A consumer that says that one message is pending. */
static void *begin_to_read(struct fake_nats *fake)
{
    const struct bucket_module *module = &kubelua_bucket_module;
    struct stream_error error;
    char address[32];
    uint64_t pending = 0;
    fake->answers = answers;
    fake_nats_start(fake);
    fake_nats_address(fake, address);
    void *client =
        module->open(&(const struct stream_settings){.servers = address, .path = "b", .name = "x"}, &error);
    assert_non_null(client);
    if (module->read(client, "objects.>", 0, 0, &pending, &error) != BUCKET_DONE) fail_msg("%s", error.text);
    assert_int_equal(pending, 1);
    return client;
}

static int next_of(void *client, struct bucket_message *message, struct stream_error *error)
{
    int got = BUCKET_NEXT_NONE;
    for (int i = 0; got == BUCKET_NEXT_NONE && i < 100; i++)
        got = kubelua_bucket_module.next(client, 100, message, error);
    return got;
}

static void test_a_heartbeat_tells_that_nothing_is_pending_any_more(void **state)
{
    struct fake_nats fake = {0};
    struct bucket_message message;
    struct stream_error error = {""};
    void *client = begin_to_read(&fake);
    fake_nats_send_heads(
        &fake, "NATS/1.0 100 Idle Heartbeat\r\nNats-Last-Consumer: 0\r\nNats-Last-Stream: 7\r\n\r\n");
    assert_int_equal(next_of(client, &message, &error), BUCKET_NEXT_LEVEL);
    assert_int_equal(message.sequence, 7);
    kubelua_bucket_module.close(client);
    fake_nats_end(&fake);
}

static void test_a_consumer_that_waits_for_this_one_is_not_level(void **state)
{
    struct fake_nats fake = {0};
    struct bucket_message message;
    struct stream_error error = {""};
    void *client = begin_to_read(&fake);
    fake_nats_send_heads(&fake,
                         "NATS/1.0 100 Idle Heartbeat\r\nNats-Last-Consumer: 0\r\nNats-Last-Stream: 7\r\n"
                         "Nats-Consumer-Stalled: $JS.FC.KV_b.c.1\r\n\r\n");
    fake_nats_send_heads(&fake, "NATS/1.0 100 FlowControl Request\r\n\r\n");
    assert_int_equal(kubelua_bucket_module.next(client, 10000, &message, &error), BUCKET_NEXT_NONE);
    assert_int_equal(kubelua_bucket_module.next(client, 10000, &message, &error), BUCKET_NEXT_NONE);
    kubelua_bucket_module.close(client);
    fake_nats_end(&fake);
}

static void test_a_heartbeat_tells_of_a_last_message_that_was_lost(void **state)
{
    struct fake_nats fake = {0};
    struct bucket_message message;
    struct stream_error error = {""};
    void *client = begin_to_read(&fake);
    fake_nats_send_heads(
        &fake, "NATS/1.0 100 Idle Heartbeat\r\nNats-Last-Consumer: 1\r\nNats-Last-Stream: 7\r\n\r\n");
    assert_int_equal(next_of(client, &message, &error), BUCKET_NEXT_OVER);
    assert_non_null(strstr(error.text, "lost on their way"));
    kubelua_bucket_module.close(client);
    fake_nats_end(&fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_heartbeat_tells_that_nothing_is_pending_any_more),
        cmocka_unit_test(test_a_consumer_that_waits_for_this_one_is_not_level),
        cmocka_unit_test(test_a_heartbeat_tells_of_a_last_message_that_was_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
