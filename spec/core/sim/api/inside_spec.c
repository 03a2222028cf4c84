/* The simulator without HTTP: requests and watches of one thread, on a clock that is moved by hand. */
#include "sim/api/inside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

struct world {
    struct loop *loop;
    struct sim_inside *inside;
    struct sim_inside_response answer;
};

static int set_up(void **state)
{
    static struct world w;
    w = (struct world){.loop = loop_new_by_hand(1767225600000000)};
    w.inside = sim_inside_new(w.loop);
    *state = &w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    sim_inside_response_clear(&w->answer);
    sim_inside_free(w->inside);
    loop_free(w->loop);
    return 0;
}

#define PODS "/api/v1/namespaces/default/pods"
#define POD                                                                               \
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\",\"uid\":\"u\"," \
    "\"namespace\":\"default\"},\"status\":{\"phase\":\"Running\"}}"

/* The code; the body is in the answer until the next one. */
static int ask(struct world *w, const char *method, const char *target, const char *type, const char *body)
{
    sim_inside_response_clear(&w->answer);
    const struct sim_inside_request request = {
        .method = method, .target = target, .content_type = type, .body = str_of(body ? body : "")};
    sim_inside_serve(w->inside, &request, &w->answer);
    return w->answer.code;
}

static void assert_body(struct world *w, const char *part)
{
    const char *body = buf_text(&w->answer.body);
    if (!strstr(body, part)) fail_msg("%s is not in %s", part, body);
}

static void put(struct world *w, const char *json)
{
    struct err err;
    if (!sim_inside_put(w->inside, str_of(json), &err)) fail_msg("%s", err.text);
}

static void objects_are_stored_as_they_are_given_and_may_be_changed_after(void **state)
{
    struct world *w = *state;
    put(w, POD);
    assert_int_equal(ask(w, "GET", PODS "/a", NULL, NULL), 200);
    assert_body(w, "\"phase\":\"Running\"");
    assert_int_equal(ask(w, "PATCH", PODS "/a", "application/merge-patch+json",
                         "{\"metadata\":{\"labels\":{\"x\":\"y\"}}}"),
                     200);
    assert_body(w, "\"x\":\"y\"");
    assert_true(sim_inside_remove(w->inside, PODS "/a"));
    assert_false(sim_inside_remove(w->inside, PODS "/a"));
    assert_int_equal(ask(w, "GET", PODS "/a", NULL, NULL), 404);
}

static void apply_creates_and_merges_and_strategic_patches_merge(void **state)
{
    static const char path[] = "/api/v1/namespaces/default/configmaps/c?fieldManager=m";
    struct world *w = *state;
    const char *one =
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\"},\"data\":{\"a\":\"1\"}}";
    const char *two =
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\"},\"data\":{\"b\":\"2\"}}";
    assert_int_equal(ask(w, "PATCH", path, "application/apply-patch+yaml", one), 201);
    assert_int_equal(
        ask(w, "PATCH", path, "application/strategic-merge-patch+json", "{\"data\":{\"c\":\"3\"}}"), 200);
    assert_body(w, "\"data\":{\"a\":\"1\",\"c\":\"3\"}");
    /* The manager no longer wants what it does not name. */
    assert_int_equal(ask(w, "PATCH", path, "application/apply-patch+yaml", two), 200);
    assert_body(w, "\"data\":{\"c\":\"3\",\"b\":\"2\"}");
}

static void a_request_is_known_by_verb_kind_and_place(void **state)
{
    struct world *w = *state;
    struct sim_inside_about about;
    sim_inside_about(w->inside,
                     &(struct sim_inside_request){
                         .method = "PATCH",
                         .target = "/apis/apps/v1/namespaces/s%2Dhop/deployments/web/status?dryRun=All"},
                     &about);
    assert_string_equal(about.verb, "patch");
    assert_string_equal(about.kind, "Deployment");
    assert_string_equal(about.resource, "deployments.apps");
    assert_string_equal(about.api_version, "apps/v1");
    assert_string_equal(about.namespace_, "s-hop");
    assert_string_equal(about.name, "web");
    assert_string_equal(about.subresource, "status");
    assert_true(about.dry_run);
    sim_inside_about_clear(&about);
    sim_inside_about(w->inside, &(struct sim_inside_request){.method = "GET", .target = "/version"}, &about);
    assert_null(about.resource);
    sim_inside_about_clear(&about);
}

/* "%00team-a" would be the beginning of a name, and that is all of them. */
static void a_nul_byte_in_a_path_or_a_query_is_refused(void **state)
{
    static const char *const targets[] = {"/api/v1/namespaces/%00team-a/pods",
                                          "/api/v1/pods?labelSelector=%00a",
                                          "/api/v1/pods?fieldSelector%00=a", PODS "/a%00b"};
    struct world *w = *state;
    put(w, POD);
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        assert_int_equal(ask(w, "GET", targets[i], NULL, NULL), 400);
        assert_body(w, "the path and the query must not contain a NUL byte");
    }
    assert_int_equal(ask(w, "GET", PODS "/a", NULL, NULL), 200);
}

/* What a watch says now; `open` tells whether it goes on. */
static const char *read_watch(struct world *w, bool *open)
{
    static struct buf text;
    text.len = 0;
    *open = sim_inside_read(w->answer.stream, &text);
    return buf_text(&text);
}

static void a_watch_says_what_there_is_and_never_waits(void **state)
{
    struct world *w = *state;
    bool open;
    put(w, POD);
    assert_int_equal(ask(w, "GET", PODS "?watch=true&timeoutSeconds=60", NULL, NULL), 200);
    assert_non_null(strstr(read_watch(w, &open), "\"type\":\"ADDED\""));
    assert_string_equal(read_watch(w, &open), "");
    assert_true(open);
    assert_true(sim_inside_remove(w->inside, PODS "/a"));
    assert_non_null(strstr(read_watch(w, &open), "\"type\":\"DELETED\""));
    assert_true(open);
    loop_set_clock(w->loop, clock_now_ms(loop_clock(w->loop)) + 60000);
    read_watch(w, &open);
    assert_false(open);
}

static void watches_end_when_they_are_told_to(void **state)
{
    struct world *w = *state;
    struct err err;
    bool open;
    ask(w, "GET", PODS "?watch=true", NULL, NULL);
    assert_false(sim_inside_end_watches(w->inside, "nothings", false, &err));
    assert_true(sim_inside_end_watches(w->inside, "nodes", false, &err));
    read_watch(w, &open);
    assert_true(open);
    assert_true(sim_inside_end_watches(w->inside, "pods", true, &err));
    read_watch(w, &open);
    assert_false(open);
    ask(w, "GET", PODS "?watch=true&resourceVersion=1767225600000000", NULL, NULL);
    assert_non_null(strstr(read_watch(w, &open), "\"code\":410"));
}

static void more_kinds_are_served(void **state)
{
    struct world *w = *state;
    assert_int_equal(ask(w, "GET", "/apis/batch/v1/cronjobs", NULL, NULL), 200);
    assert_int_equal(ask(w, "GET", "/apis/example.com/v1/widgets", NULL, NULL), 404);
    sim_inside_add_kind(w->inside, "example.com", "v1", "widgets", "Widget", true);
    sim_inside_add_kind(w->inside, "example.com", "v1", "widgets", "Widget", true);
    assert_int_equal(ask(w, "GET", "/apis/example.com/v1/widgets", NULL, NULL), 200);
    assert_body(w, "\"kind\":\"WidgetList\"");
}

static void a_refusal_is_a_status_as_a_server_gives_it(void **state)
{
    struct world *w = *state;
    sim_inside_refuse(429, "TooManyRequests", "later", 3, &w->answer);
    assert_int_equal(w->answer.code, 429);
    assert_int_equal(w->answer.retry_after_s, 3);
    assert_body(w, "\"reason\":\"TooManyRequests\"");
    assert_body(w, "\"retryAfterSeconds\":3");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(objects_are_stored_as_they_are_given_and_may_be_changed_after),
        TEST(apply_creates_and_merges_and_strategic_patches_merge),
        TEST(a_request_is_known_by_verb_kind_and_place),
        TEST(a_nul_byte_in_a_path_or_a_query_is_refused),
        TEST(a_watch_says_what_there_is_and_never_waits),
        TEST(watches_end_when_they_are_told_to),
        TEST(more_kinds_are_served),
        TEST(a_refusal_is_a_status_as_a_server_gives_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
