/* core/kube/api/kube_call.c, discovery.c: an answer that breaks off at any byte, over each protocol.
 * Discovery and writes end with one error, and the next try is as if nothing had been; a read asks again by
 * itself (H-4). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/kube/support/cut_client.h"
#include "kube/api/object_call.h"
#include "object/value/value.h"
#include "support/jump_clock.h"

enum { HUNG_S = 120 };

static struct cut_client c;
static bool legacy;

/* What came of one question. */
static int dones;
static struct err err;
static struct buf seen;

#define JSON(text)                                                                                      \
    {                                                                                                   \
        .status = 200, .headers = "Content-Type: application/json\r\n", .pieces = (const char *const[]) \
        {                                                                                               \
            text, NULL                                                                                  \
        }                                                                                               \
    }
#define AGGREGATED(text)                                                                                     \
    {                                                                                                        \
        .status = 200,                                                                                       \
        .headers = "Content-Type: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList\r\n", \
        .pieces = (const char *const[])                                                                      \
        {                                                                                                    \
            "{\"kind\":\"APIGroupDiscoveryList\",\"items\":[" text "]}", NULL                                \
        }                                                                                                    \
    }

static const struct {
    const char *method, *path;
    bool legacy;
    struct cut_answer answer;
} answers[] = {
    {"GET", "/api", false,
     AGGREGATED(
         "{\"metadata\":{\"name\":\"\"},\"versions\":[{\"version\":\"v1\",\"resources\":[{\"resource\":"
         "\"pods\",\"scope\":\"Namespaced\",\"responseKind\":{\"kind\":\"Pod\"}}]}]}")},
    {"GET", "/apis", false, AGGREGATED("")},
    {"GET", "/api", true, JSON("{\"kind\":\"APIVersions\",\"versions\":[\"v1\"]}")},
    {"GET", "/apis", true, JSON("{\"kind\":\"APIGroupList\",\"groups\":[]}")},
    {"GET", "/api/v1", true,
     JSON("{\"resources\":[{\"name\":\"pods\",\"namespaced\":true,\"kind\":\"Pod\"}]}")},
    {"GET", "/api/v1/namespaces/shop/pods/web", false,
     JSON("{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"web\",\"namespace\":\"shop\"}}")},
    {"POST", "/api/v1/namespaces/shop/pods", false,
     JSON("{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"web\",\"namespace\":\"shop\"}}")},
    {"DELETE", "/api/v1/namespaces/shop/pods/web", false,
     JSON("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Success\"}")},
};

static const struct cut_answer *answer(void *ctx, const char *method, const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(answers); i++)
        if (strcmp(answers[i].method, method) == 0 && strcmp(answers[i].path, path) == 0 &&
            answers[i].legacy == legacy)
            return &answers[i].answer;
    fail_msg("%s %s", method, path);
    return NULL;
}

static void note_end(const struct err *error)
{
    dones++;
    err_clear(&err);
    if (!error) return;
    assert_int_not_equal(error->code, ERR_NONE);
    err = *error;
}

static void on_catalogue(void *ctx, struct catalogue *catalogue, const struct err *error)
{
    struct resource resource;
    assert_int_equal(catalogue == NULL, error != NULL);
    note_end(error);
    if (!catalogue) return;
    if (catalogue_resolve(catalogue, STR("pods"), &resource, NULL)) {
        buf_puts(&seen, resource.plural);
        resource_clear(&resource);
    }
    buf_puts(&seen, catalogue_failures(catalogue));
    catalogue_free(catalogue);
}

static void on_object(void *ctx, const struct object_response *response)
{
    assert_true(!response->object || !response->err);
    note_end(response->err);
    if (response->object) root_key(response->object, &seen);
    root_unref(response->object);
}

static void discover(void)
{
    discovery_start(c.client, on_catalogue, NULL);
}

static void call(enum object_verb verb, const char *name, struct str body, bool own_connection)
{
    static const struct resource pods = {(char *)"", (char *)"v1", (char *)"pods", (char *)"Pod", true};
    object_call_start(
        c.client,
        &(struct object_request){
            .verb = verb, .place = {&pods, "shop", name}, .body = body, .own_connection = own_connection},
        on_object, NULL);
}

static void read_one(void)
{
    call(OBJECT_GET, "web", (struct str){0}, false);
}

static void create(void)
{
    call(OBJECT_CREATE, "", STR("{\"kind\":\"Pod\",\"metadata\":{\"generateName\":\"web-\"}}"), false);
}

static void create_alone(void)
{
    call(OBJECT_CREATE, "", STR("{\"kind\":\"Pod\",\"metadata\":{\"generateName\":\"web-\"}}"), true);
}

static void delete (void)
{
    call(OBJECT_DELETE, "web", STR("{\"kind\":\"DeleteOptions\"}"), false);
}

static void delete_bare(void)
{
    call(OBJECT_DELETE, "web", (struct str){0}, false);
}

static void delete_empty(void)
{
    call(OBJECT_DELETE, "web", STR(""), false);
}

/* Once an answer was broken off the clock goes on by two seconds, which no request takes for long. */
static void ask(void (*start)(void))
{
    enum { STEP_MS = 100, STEPS = 20 };
    int steps = 0;
    dones = 0;
    seen.len = 0;
    start();
    while (!dones) {
        bool jump = cut_server_has_cut(c.server) && steps++ < STEPS;
        if (jump) jump_clock_move(c.loop, STEP_MS);
        loop_once(c.loop, !jump);
    }
}

static void (*question)(void);

static void assert_good(void)
{
    if (err.code != ERR_NONE) fail_msg("%s", err.text);
    bool deletes = question == delete || question == delete_bare || question == delete_empty;
    assert_string_equal(buf_text(&seen), question == discover ? "pods" : deletes ? "" : "shop/web");
}

static void assert_broke_off(void)
{
    if (err.code != ERR_CLOSED) fail_msg("%s", err.text);
    assert_true(cut_server_has_cut(c.server));
}

/* The error of the one is all, and the next is answered, over a connection that the next one after it finds.
 */
static void run_once(void *ctx)
{
    ask(question);
    if (err.code != ERR_NONE) {
        assert_broke_off();
        ask(question);
    }
    assert_good();
}

/* Nothing is sent again by itself. */
static void run_write(void *ctx)
{
    ask(question);
    assert_int_equal(cut_server_requests(c.server), 1);
    if (err.code != ERR_NONE) {
        assert_broke_off();
        ask(question);
    }
    assert_good();
}

/* Of one group version a failure is noted, and the others are there. */
static void run_legacy(void *ctx)
{
    ask(question);
    if (err.code != ERR_NONE) assert_broke_off();
    ask(question);
    assert_good();
}

static void cut_all(void (*start)(void), unsigned requests, void (*run)(void *ctx))
{
    question = start;
    legacy = run == run_legacy;
    for (enum cut_wire wire = 0; wire < WIRE_COUNT; wire++) {
        if (wire == WIRE_H2 && start == create_alone) continue; /* that is HTTP/1.1 */
        alarm(HUNG_S);
        cut_client_open(&c, wire, answer);
        for (unsigned skip = 0; skip < requests; skip++)
            assert_true(cut_each(c.server, skip, run, NULL) > 50);
        cut_client_close(&c);
    }
    buf_clear(&seen);
}

static void test_h4_discovery_that_breaks_off_fails_once_and_the_next_is_complete(void **state)
{
    cut_all(discover, 2, run_once);
}

static void test_h4_discovery_of_an_old_server_likewise(void **state)
{
    cut_all(discover, 3, run_legacy);
}

static void test_h4_a_write_that_breaks_off_is_one_error_and_never_sent_again(void **state)
{
    cut_all(create, 1, run_write);
    cut_all(create_alone, 1, run_write);
    cut_all(delete, 1, run_write);
    cut_all(delete_bare, 1, run_write);
    cut_all(delete_empty, 1, run_write);
}

/* What has no head yet is asked again, the rest is an error. */
static void run_read(void *ctx)
{
    ask(question);
    if (err.code == ERR_NONE) {
        assert_good();
        assert_in_range(cut_server_requests(c.server), 1, 2);
    } else {
        assert_broke_off();
        assert_int_equal(cut_server_requests(c.server), 1);
    }
}

static void test_h4_a_read_that_breaks_off_is_tried_again(void **state)
{
    cut_all(read_one, 1, run_read);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_h4_discovery_that_breaks_off_fails_once_and_the_next_is_complete),
        cmocka_unit_test(test_h4_discovery_of_an_old_server_likewise),
        cmocka_unit_test(test_h4_a_write_that_breaks_off_is_one_error_and_never_sent_again),
        cmocka_unit_test(test_h4_a_read_that_breaks_off_is_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
