/* core/app/audit/audit_pages.c: servers that give strange pages. */
#include "app/audit/audit_pages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/kube/support/kube_bench.h"
#include "kube/kinds/well_known.h"

static struct {
    int listed, looked;
    int old_pages; /* that follow one that has a new object */
    int last;      /* the page without a token; 0: there is none */
} world;

/* Every page has a token of its own. */
static void give_page(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    int page = world.listed++;
    char *token = world.listed == world.last ? xstrdup("") : xasprintf("t%d", page);
    char *body =
        xasprintf("{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"1\","
                  "\"continue\":\"%s\"},\"items\":[{\"metadata\":{\"name\":\"p%d\",\"namespace\":"
                  "\"shop\",\"resourceVersion\":\"1\"}}]}",
                  token, page / (world.old_pages + 1));
    tiny_answer(conn, 200, "Content-Type: application/json\r\n", body);
    free(body);
    free(token);
}

/* A list of `pages`, an object each, whose tokens are over by page `over_at`; `over_later`: the next time
 * later by so many. */
static struct {
    int pages, over_at, over_later, times;
    bool grows;       /* the first page has an object more each time */
    bool whole_fails; /* without a limit it is over, too */
    int expired, whole, begun;
} list;

static void put_item(struct buf *items, const char *name, int number)
{
    buf_printf(items, "%s{\"metadata\":{\"name\":\"%s%d\",\"namespace\":\"shop\",\"resourceVersion\":\"1\"}}",
               items->len ? "," : "", name, number);
}

static void give_list(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    const char *token = strstr(path, "continue=t");
    int page = token ? (int)strtol(token + strlen("continue=t"), NULL, 10) : 0;
    bool whole = !strstr(path, "limit=500");
    struct buf items = {0};
    world.listed++;
    list.whole += whole;
    list.begun += page == 0;
    if (whole ? list.whole_fails : page == list.over_at && list.expired < list.times) {
        list.expired++;
        list.over_at += list.over_later;
        tiny_answer(conn, 410, "Content-Type: application/json\r\n",
                    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":"
                    "\"Expired\",\"message\":\"the token is over\",\"code\":410}");
        return;
    }
    char *next = page + 1 < list.pages && !whole ? xasprintf("t%d", page + 1) : xstrdup("");
    for (int i = page; i <= (whole ? list.pages - 1 : page); i++) put_item(&items, "p", i);
    if (page == 0 && list.grows) put_item(&items, "new", list.begun);
    char *body =
        xasprintf("{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"1\","
                  "\"continue\":\"%s\"},\"items\":[%s]}",
                  next, buf_text(&items));
    tiny_answer(conn, 200, "Content-Type: application/json\r\n", body);
    free(body);
    free(next);
    buf_clear(&items);
}

static void on_looked(void *ctx)
{
    world.looked++;
}

static bool read_pages(struct bench *bench, const char *selector)
{
    const struct resource pods = {(char *)"", (char *)"v1", (char *)"pods", (char *)"Pod", true};
    struct audit_table *table = audit_table_new(false);
    struct packer *packer = packer_new(bench->pool);
    bench->catalogue = catalogue_well_known();
    if (!bench->answer) bench->answer = give_page;
    bench_new_client(bench, false);
    struct auditor *auditor = auditor_new(
        &(const struct auditor_options){.catalogue = bench->catalogue, .table = table}, &bench->err);
    assert_non_null(auditor);
    bool ok = audit_pages_read(&(const struct audit_pages_options){.loop = bench->loop,
                                                                   .client = bench->client,
                                                                   .packer = packer,
                                                                   .auditor = auditor,
                                                                   .resource = &pods,
                                                                   .namespace_ = "shop",
                                                                   .selector = selector,
                                                                   .wait_ms = 10000,
                                                                   .audited = on_looked},
                               &bench->err);
    auditor_free(auditor);
    packer_free(packer);
    audit_table_free(table);
    return ok;
}

static void test_a_list_without_an_end_is_an_error(void **state)
{
    struct bench *bench = *state;
    world.listed = world.looked = world.last = 0;
    world.old_pages = 100000;
    assert_false(read_pages(bench, ""));
    assert_int_equal(bench->err.code, ERR_PARSE);
    assert_string_equal(bench->err.text, "the list does not end: 100 consecutive pages had no new objects");
    assert_int_equal(world.looked, 1);
    assert_int_equal(world.listed, 101);
}

static void test_pages_with_nothing_new_are_none_when_others_follow(void **state)
{
    struct bench *bench = *state;
    world.listed = world.looked = 0;
    world.old_pages = 99;
    world.last = 250;
    assert_true(read_pages(bench, ""));
    assert_int_equal(world.looked, 3);
    assert_int_equal(world.listed, 250);
}

static bool read_list(struct bench *bench, int pages, int over_at, int over_later, int times)
{
    world.listed = world.looked = list.expired = list.whole = list.begun = 0;
    list.pages = pages;
    list.over_at = over_at;
    list.over_later = over_later;
    list.times = times;
    bench->answer = give_list;
    return read_pages(bench, "");
}

/* More pages than may have nothing new where a list does not begin anew. */
static void test_an_expired_list_begins_again_page_by_page(void **state)
{
    assert_true(read_list(*state, 150, 120, 0, 1));
    assert_int_equal(world.looked, 150);
    assert_int_equal(world.listed, 120 + 1 + 150);
    assert_int_equal(list.whole, 0);
}

static void test_a_list_may_begin_again_as_often_as_it_gets_further(void **state)
{
    assert_true(read_list(*state, 30, 1, 1, 20));
    assert_int_equal(world.looked, 30);
    assert_int_equal(list.expired, 20);
}

static void test_p3_a_list_that_gets_no_further_comes_completely(void **state)
{
    assert_true(read_list(*state, 10, 3, 0, 1000));
    assert_int_equal(world.looked, 10);
    assert_int_equal(world.listed, 7 * 4 + 1);
    assert_int_equal(list.whole, 1);
}

/* Objects that come meanwhile do not make it go on for ever. */
static void test_a_list_that_grows_in_front_gets_no_further(void **state)
{
    list.grows = true;
    assert_true(read_list(*state, 10, 3, 0, 1000));
    list.grows = false;
    assert_int_equal(world.looked, 10 + 8);
    assert_int_equal(list.whole, 1);
}

static void test_a_list_that_does_not_come_completely_either_is_an_error(void **state)
{
    struct bench *bench = *state;
    list.whole_fails = true;
    assert_false(read_list(bench, 10, 3, 0, 1000));
    list.whole_fails = false;
    assert_string_equal(bench->err.text, "the list was restarted 6 times because its continue token had "
                                         "expired, without progress: the token is over");
    assert_true(kube_err_is_expired(&bench->err));
    assert_int_equal(world.looked, 3);
    assert_int_equal(list.whole, 1);
}

static void test_a_first_page_that_expires_is_an_error(void **state)
{
    struct bench *bench = *state;
    assert_false(read_list(bench, 10, 0, 0, 1000));
    assert_string_equal(bench->err.text, "the token is over");
    assert_int_equal(world.listed, 1);
}

static void test_the_selector_goes_to_the_server(void **state)
{
    struct bench *bench = *state;
    world.listed = world.looked = world.old_pages = 0;
    world.last = 2;
    assert_true(read_pages(bench, "app=web"));
    const char *requests = buf_text(&bench->requests);
    int found = 0;
    while ((requests = strstr(requests, "labelSelector=app%3Dweb"))) requests++, found++;
    assert_int_equal(found, 2);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, kube_bench_setup, kube_bench_teardown)
    const struct CMUnitTest tests[] = {
        T(test_a_list_without_an_end_is_an_error),
        T(test_pages_with_nothing_new_are_none_when_others_follow),
        T(test_an_expired_list_begins_again_page_by_page),
        T(test_a_list_may_begin_again_as_often_as_it_gets_further),
        T(test_p3_a_list_that_gets_no_further_comes_completely),
        T(test_a_list_that_grows_in_front_gets_no_further),
        T(test_a_list_that_does_not_come_completely_either_is_an_error),
        T(test_a_first_page_that_expires_is_an_error),
        T(test_the_selector_goes_to_the_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
