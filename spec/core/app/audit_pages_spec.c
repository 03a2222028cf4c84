/* core/app/audit_pages.c: servers that give strange pages. */
#include "app/audit_pages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/kube/support/kube_bench.h"
#include "kube/well_known.h"

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
    bench->answer = give_page;
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
                                                                   .looked = on_looked},
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
    assert_string_equal(bench->err.text,
                        "the server gives no end of the list: 100 pages in a row had no object "
                        "that was not in one before");
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
        T(test_the_selector_goes_to_the_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
