/* core/script/server/write_record.c, dry_write.c: what is noted of writes, and those that are not sent. */
#include "core/script/support/writes.h"

#include <stdlib.h>
#include <string.h>

static void assert_audit(const char *expected)
{
    struct buf text = {0};
    write_log_write(bench.cluster.host.audit, NULL, SIZE_MAX, &text);
    if (!strstr(buf_text(&text), expected)) fail_msg("%s is not in %s", expected, buf_text(&text));
    buf_clear(&text);
}

static void test_each_write_is_noted_with_its_caller_and_its_end(void **state)
{
    struct err err;
    bench.cluster.host.audit = write_log_new(NULL, &err);
    writes_discover();
    writes_start("k8s.after('10ms', function() k8s.patch(pod, {}) end) k8s.sleep '20ms' k8s.update(pod)");
    writes_advance(10);
    assert_int_equal(write_log_total(bench.cluster.host.audit), 0);
    writes_answer("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web\","
                  "\"resourceVersion\":\"8\"}}");
    assert_audit("\"trigger\":\"timer\",\"verb\":\"patch\",\"resource\":\"pods\",\"object\":\"shop/web\","
                 "\"resourceVersion\":\"8\",\"manager\":\"kubelua\",\"result\":\"ok\",\"milliseconds\":0}");
    writes_advance(10);
    writes_refuse(409, "Conflict");
    assert_audit("\"handler\":\"main\",\"trigger\":\"start\",\"verb\":\"update\"");
    assert_audit("\"result\":\"Conflict\",\"code\":409,\"message\":\"no\"");
    writes_start("k8s.delete(pod)");
    script_free(bench.script);
    bench.script = NULL;
    writes_settle();
    assert_audit("\"verb\":\"delete\",\"resource\":\"pods\",\"object\":\"shop/web\",\"manager\":\"kubelua\","
                 "\"result\":\"Cancelled\"");
    assert_int_equal(write_log_total(bench.cluster.host.audit), 3);
}

/* A call that waits may be cancelled after its answer came: the trail says what the server did. */
static void test_a_response_without_a_receiver_is_logged_all_the_same(void **state)
{
    struct err err;
    bench.cluster.host.audit = write_log_new(NULL, &err);
    writes_discover();
    writes_start("k8s.delete(pod)");
    struct object_call *ended = bench.call;
    bench.call = NULL;
    ended->done(ended->ctx, &(struct object_response){.http_status = 200});
    free(ended);
    cluster_settle(&bench.cluster); /* the answer is here, the task goes on with the clock */
    script_free(bench.script);
    bench.script = NULL;
    assert_audit("\"result\":\"ok\"");
}

/* --- --dry-run */

static void test_what_is_recorded_is_not_sent(void **state)
{
    bench.cluster.host.write_mode = WRITES_RECORDED;
    writes_discover();
    writes_start(
        "tell(k8s.create(pod):key(), k8s.patch(pod, {}).kind, k8s.delete(pod))\n"
        "local object = k8s.update(pod) tell(k8s.patch(object, { a = 1 }) == object)\n"
        "tell(k8s.update { apiVersion = 'v1', kind = 'Pod', metadata = { name = 'a', namespace = 'b' } "
        "}:name())\n"
        "local review = k8s.create { apiVersion = 'v1', kind = 'Node' } tell(review:name())");
    assert_null(bench.call);
    assert_told("shop/web Pod true true a nil");
}

static void test_what_is_tried_is_sent_as_such(void **state)
{
    bench.cluster.host.write_mode = WRITES_TRIED;
    bench.cluster.host.field_manager = "me";
    writes_discover();
    assert_sends("k8s.patch(pod, {})",
                 "PATCH pods shop/web?fieldManager=me&dryRun=All application/merge-patch+json: {}");
    assert_sends("k8s.delete(pod)", "DELETE pods shop/web application/json: {\"apiVersion\":\"v1\","
                                    "\"dryRun\":[\"All\"],\"kind\":\"DeleteOptions\"}");
}

#define T(name) cmocka_unit_test_setup_teardown(name, writes_setup, writes_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_each_write_is_noted_with_its_caller_and_its_end),
        T(test_a_response_without_a_receiver_is_logged_all_the_same),
        T(test_what_is_recorded_is_not_sent),
        T(test_what_is_tried_is_sent_as_such),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
