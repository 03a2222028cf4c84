/* core/app/publish/publish_record.c: kinds that are written and read in again, and whose a record is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "app/publish/publish_internal.h"
#include "kube/kinds/catalogue.h"

#define RESOURCE(plural, kind, scope, more) \
    "{\"resource\":\"" plural "\",\"responseKind\":{\"kind\":\"" kind "\"},\"scope\":\"" scope "\"" more "}"

static const char document[] =
    "{\"kind\":\"APIGroupDiscoveryList\",\"items\":["
    "{\"metadata\":{\"name\":\"\"},\"versions\":[{\"version\":\"v1\",\"resources\":[" RESOURCE(
        "pods", "Pod", "Namespaced",
        ",\"singularResource\":\"pod\",\"shortNames\":[\"po\"],\"verbs\":[\"get\",\"list\","
        "\"watch\"]") "," RESOURCE("nodes", "Node", "Cluster",
                                   ",\"shortNames\":[\"no\",\"node-short\"],\"verbs\":["
                                   "\"patch\"]") "]}]},"
                                                 "{\"metadata\":{\"name\":\"z.example.com\"},"
                                                 "\"versions\":["
                                                 "{\"version\":\"v2\",\"resources\":[" RESOURCE(
                                                     "widgets", "Widget", "Namespaced",
                                                     "") "]},"
                                                         "{\"version\":\"v1\",\"resources\":"
                                                         "[" RESOURCE(
                                                             "widgets", "Widget", "Namespaced",
                                                             "") "," RESOURCE("gears", "Gear", "Cluster",
                                                                              "") "]}]},"
                                                                                  "{\"metadata\""
                                                                                  ":{\"name\":"
                                                                                  "\"apps\"},"
                                                                                  "\"versions\":"
                                                                                  "[{"
                                                                                  "\"version\":"
                                                                                  "\"v1\","
                                                                                  "\"resources\""
                                                                                  ":[" RESOURCE("deploymen"
                                                                                                "ts",
                                                                                                "Deploymen"
                                                                                                "t",
                                                                                                "Namespace"
                                                                                                "d",
                                                                                                ",\"shortN"
                                                                                                "ames\":["
                                                                                                "\"deploy"
                                                                                                "\"]") "]}"
                                                                                                       "]}"
                                                                                                       "]"
                                                                                                       "}";

static struct catalogue *read_kinds(struct str text)
{
    struct tape_parser *parser = tape_parser_new();
    struct buf padded = {0};
    struct tape tape;
    struct catalogue *catalogue = catalogue_new();
    memset(buf_reserve(&padded, text.n + TAPE_PADDING), 0, text.n + TAPE_PADDING);
    buf_str(&padded, text);
    assert_true(tape_parse(parser, padded.data, padded.len, &tape, NULL));
    catalogue_add_aggregated(catalogue, &tape, 0);
    catalogue_finish(catalogue);
    buf_clear(&padded);
    tape_parser_free(parser);
    return catalogue;
}

static void assert_resolves(const struct catalogue *catalogue, const char *name, const char *group,
                            const char *version, const char *plural, enum scope scope)
{
    struct resource resource;
    assert_true(catalogue_resolve(catalogue, str_of(name), &resource, NULL));
    assert_string_equal(resource.group, group);
    assert_string_equal(resource.version, version);
    assert_string_equal(resource.plural, plural);
    assert_int_equal(resource.namespaced, scope);
    resource_clear(&resource);
}

static void test_kinds_are_the_same_when_they_are_read_in(void **state)
{
    struct buf text = {0}, again = {0};
    struct catalogue *kinds = read_kinds(str_of(document));
    publish_put_catalogue(kinds, &text);
    struct catalogue *copy = read_kinds(buf_slice(&text));
    assert_int_equal(copy->count, 6);
    for (size_t i = 0; i < copy->count; i++) {
        assert_true(resource_equal(catalogue_at(copy, i), catalogue_at(kinds, i)));
        assert_int_equal(catalogue_verbs_at(copy, i), catalogue_verbs_at(kinds, i));
    }
    assert_resolves(copy, "po", "", "v1", "pods", SCOPE_NAMESPACED);
    assert_resolves(copy, "node-short", "", "v1", "nodes", SCOPE_CLUSTER);
    assert_resolves(copy, "deploy", "apps", "v1", "deployments", SCOPE_NAMESPACED);
    /* The preferred version, which comes first. */
    assert_resolves(copy, "widgets", "z.example.com", "v2", "widgets", SCOPE_NAMESPACED);
    assert_resolves(copy, "gears", "z.example.com", "v1", "gears", SCOPE_CLUSTER);
    publish_put_catalogue(copy, &again);
    assert_true(str_eq(buf_slice(&text), buf_slice(&again)));
    catalogue_free(kinds);
    catalogue_free(copy);
    buf_clear(&text);
    buf_clear(&again);
}

static void test_no_kinds_are_a_list_too(void **state)
{
    struct buf text = {0};
    struct catalogue *none = catalogue_new();
    catalogue_finish(none);
    publish_put_catalogue(none, &text);
    struct catalogue *copy = read_kinds(buf_slice(&text));
    assert_int_equal(copy->count, 0);
    catalogue_free(none);
    catalogue_free(copy);
    buf_clear(&text);
}

static void put_record(const char *identity, bool ends, struct buf *out)
{
    struct loop *loop = loop_new_by_hand(0);
    struct publisher *publisher =
        publisher_new(&(const struct publisher_options){.loop = loop, .identity = identity});
    out->len = 0;
    publish_put_record(publisher, ends, out);
    publisher_end(publisher, NULL);
    loop_free(loop);
}

static void test_a_record_tells_whose_it_is(void **state)
{
    struct buf record = {0};
    put_record("a-1", false, &record);
    assert_true(publish_record_is_own(buf_slice(&record), "a-1"));
    assert_false(publish_record_is_foreign(buf_slice(&record), "a-1"));
    assert_true(publish_record_is_foreign(buf_slice(&record), "a-12"));
    assert_false(publish_record_is_own(buf_slice(&record), "a-"));
    /* One that has ended is nobody's: its place is free. */
    put_record("a-1", true, &record);
    assert_false(publish_record_is_own(buf_slice(&record), "a-1"));
    assert_false(publish_record_is_foreign(buf_slice(&record), "b-1"));
    assert_false(publish_record_is_foreign(STR(""), "b-1"));
    assert_false(publish_record_is_foreign(STR("hello"), "b-1"));
    buf_clear(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds_are_the_same_when_they_are_read_in),
        cmocka_unit_test(test_no_kinds_are_a_list_too),
        cmocka_unit_test(test_a_record_tells_whose_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
