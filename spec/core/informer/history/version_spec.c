/* core/informer/history/version and text_table: what a version replaced, and what it costs. */
#include "core/informer/support/objects.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "informer/history/version.h"

static struct text_table texts;

static void put(void *ctx, struct str path, struct str old)
{
    buf_printf(ctx, "%.*s=%.*s\n", STR_ARG(path), STR_ARG(old));
}

static const char *differences(const struct object_version *version)
{
    static char text[2048];
    struct buf out = {0};
    version_each(version, &texts, put, &out);
    snprintf(text, sizeof text, "%s", buf_text(&out));
    buf_clear(&out);
    return text;
}

#define HEAD(rv)                                                                                           \
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"namespace\":\"shop\",\"uid\":" \
    "\"u\","                                                                                               \
    "\"resourceVersion\":\"" rv "\",\"managedFields\":["
#define MANAGER(name, time) "{\"manager\":\"" name "\",\"time\":\"2026-11-26T10:00:" time "Z\"}"

static struct object_version *of(enum version_event event, const char *before, const char *after)
{
    struct root *a = before ? object_from_json(before) : NULL, *b = object_from_json(after);
    struct object_version *version = version_new(&texts, event, a, b, 7);
    root_unref(a);
    root_unref(b);
    return version;
}

static void test_it_has_the_old_values_of_what_differs(void **state)
{
    (void)state;
    struct object_version *version =
        of(VERSION_UPDATED,
           HEAD("1") MANAGER("x", "01") "]},\"spec\":{\"n\":1,\"gone\":null,\"list\":[1,2,3],\"same\":{}}}",
           HEAD("2") MANAGER("x", "01") "," MANAGER(
               "y", "02") "]},\"spec\":{\"n\":\"two\",\"list\":[1,5],\"same\":{},\"new\":true}}");
    assert_string_equal(differences(version),
                        "spec.n=1\nspec.gone=null\nspec.list[1]=2\nspec.list[2]=3\nspec.new=\n");
    struct str number = version_number(version);
    assert_true(str_is(number, "2"));
    assert_true(str_is(text_table_get(&texts, version->manager), "y"));
    assert_true(str_is(text_table_get(&texts, version->script), ""));
    version_set_script(&texts, version, "scripts/web");
    assert_true(str_is(text_table_get(&texts, version->script), "scripts/web"));
    version_free(&texts, version);
    assert_int_equal(texts.bytes, 0);
}

/* Times are of seconds, and the entries are in the order of names. */
static void test_of_two_managers_in_a_second_it_names_the_one_that_wrote(void **state)
{
    (void)state;
    struct object_version *version = of(VERSION_UPDATED, HEAD("1") MANAGER("label", "01") "]}}",
                                        HEAD("2") MANAGER("annotate", "01") "," MANAGER("label", "01") "]}}");
    assert_true(str_is(text_table_get(&texts, version->manager), "annotate"));
    version_free(&texts, version);
    version =
        of(VERSION_UPDATED, HEAD("1") MANAGER("a", "02") "," MANAGER("b", "02") "]},\"status\":{\"n\":1}}",
           HEAD("2") MANAGER("a", "02") "," MANAGER("b", "02") "]},\"status\":{\"n\":2}}");
    assert_true(str_is(text_table_get(&texts, version->manager), "b")); /* who wrote the same again */
    version_free(&texts, version);
}

static void test_texts_are_stored_once(void **state)
{
    (void)state;
    static const char one[] = HEAD("1") MANAGER("x", "01") "]},\"status\":{\"phase\":\"Pending\"}}";
    static const char two[] = HEAD("2") MANAGER("x", "01") "]},\"status\":{\"phase\":\"Running\"}}";
    struct object_version *first = of(VERSION_UPDATED, one, two);
    size_t bytes = texts.bytes;
    struct object_version *second = of(VERSION_UPDATED, two, one);
    assert_int_equal(texts.bytes, bytes);
    assert_int_equal(first->manager, second->manager);
    assert_true(version_bytes(first) < 120);
    version_free(&texts, first);
    assert_string_equal(differences(second), "status.phase=\"Running\"\n");
    version_free(&texts, second);
    assert_int_equal(texts.bytes, 0);
}

static void test_one_that_was_created_replaced_nothing(void **state)
{
    (void)state;
    struct object_version *version = of(VERSION_CREATED, NULL, HEAD("1") MANAGER("x", "01") "]}}");
    assert_string_equal(differences(version), "");
    version_free(&texts, version);
}

static int set_up(void **state)
{
    (void)state;
    objects_open();
    return 0;
}

static int clear(void **state)
{
    (void)state;
    text_table_clear(&texts);
    objects_close();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_has_the_old_values_of_what_differs),
        cmocka_unit_test(test_of_two_managers_in_a_second_it_names_the_one_that_wrote),
        cmocka_unit_test(test_texts_are_stored_once),
        cmocka_unit_test(test_one_that_was_created_replaced_nothing),
    };
    return cmocka_run_group_tests(tests, set_up, clear);
}
