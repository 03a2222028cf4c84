/* core/object/value/admission: a flood of rare keys, such as data keys of ConfigMaps, does not make the
 * objects of other kinds larger, nor later ones of its own kind. In a process of its own, because the tables
 * only grow. */
#include "core/object/support/objects.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "object/value/dict.h"

enum { OBJECTS = 200, FIELDS = 40, FLOOD_OBJECTS = 1400, FLOOD_KEYS = 100 };

/* `mark` stands in the name of each field; all objects of a kind have the same fields, and different values.
 */
static char *field_object(const char *kind, const char *mark, int number)
{
    struct buf text = {0};
    buf_printf(&text, "{\"apiVersion\":\"v1\",\"kind\":\"%s\",\"metadata\":{\"name\":\"n%06d\"},\"spec\":{",
               kind, number);
    for (int i = 0; i < FIELDS; i++)
        buf_printf(&text, "%s\"%sField%02d\":{\"%sInner%02d\":%d}", i ? "," : "", mark, i, mark, i,
                   number + i);
    buf_puts(&text, "}}");
    return buf_take(&text);
}

/* An object whose keys no other has. */
static char *rare_object(const char *kind, int number)
{
    struct buf text = {0};
    buf_printf(&text, "{\"apiVersion\":\"v1\",\"kind\":\"%s\",\"metadata\":{\"name\":\"n%06d\"},\"data\":{",
               kind, number);
    for (int i = 0; i < FLOOD_KEYS; i++)
        buf_printf(&text, "%s\"%s-%05d-%03d\":\"%d\"", i ? "," : "", kind, number, i, i);
    buf_puts(&text, "}}");
    return buf_take(&text);
}

/* With 2 times, each is packed as one that is created and updated is. */
static void flood(struct fixture *f, const char *kind, int objects, int times)
{
    for (int i = 0; i < objects; i++) {
        char *text = rare_object(kind, i);
        for (int time = 0; time < times; time++) root_unref(pack_ok(f->packer, text));
        free(text);
    }
    pool_drain(f->pool);
}

/* Returns the bytes of all objects together. */
static size_t measure(struct fixture *f, const char *kind, const char *mark)
{
    struct root *roots[OBJECTS];
    for (int i = 0; i < OBJECTS; i++) {
        char *text = field_object(kind, mark, i);
        roots[i] = pack_ok(f->packer, text);
        free(text);
    }
    size_t bytes = pool_stats(f->pool).used_bytes;
    for (int i = 0; i < OBJECTS; i++) root_unref(roots[i]);
    pool_drain(f->pool);
    return bytes;
}

static void expect_size(struct fixture *f, const char *kind, const char *mark, size_t expected)
{
    size_t bytes = measure(f, kind, mark);
    print_message("%s with %s: %zu bytes, %zu before\n", kind, mark, bytes, expected);
    if (bytes > expected + expected / 50)
        fail_msg("%s is %.0f %% larger", kind, 100.0 * bytes / expected - 100);
}

/* Counts warnings; the first names the kind. */
static size_t warnings;

static void take_warning(void *ctx, enum log_level level, const char *file, int line, const char *msg,
                         const struct log_field *fields)
{
    assert_int_equal(level, LOG_WARN);
    assert_non_null(strstr(msg, "exceed its share"));
    if (warnings++ > 0) return;
    assert_string_equal(fields[0].key, "table");
    assert_true(str_is(fields[0].s, "keys"));
    assert_string_equal(fields[1].key, "kind");
    assert_true(str_is(fields[1].s, "ConfigMap"));
}

static void test_rare_keys_of_one_kind_cost_no_other_kind_its_room(void **state)
{
    struct fixture *f = *state;
    size_t before = measure(f, "Early", "early"), usual = measure(f, "ConfigMap", "usual");
    log_capture(take_warning, NULL);
    flood(f, "ConfigMap", FLOOD_OBJECTS, 1); /* rare enough to be told of at once */
    assert_int_equal(warnings, 1);
    flood(f, "ConfigMap", FLOOD_OBJECTS, 2);
    log_capture(NULL, NULL);
    assert_int_equal(warnings, 1);
    expect_size(f, "Later", "later", before);
    expect_size(f, "ConfigMap", "usual", usual);
}

/* Labels and annotations have keys of users in all kinds. */
static void test_rare_keys_of_many_kinds_leave_room_too(void **state)
{
    struct fixture *f = *state;
    size_t before = measure(f, "Early", "early");
    for (int i = 0; i < 20; i++) {
        char kind[16];
        snprintf(kind, sizeof kind, "Kind%02d", i);
        flood(f, kind, FLOOD_OBJECTS / 10, 2);
    }
    expect_size(f, "Latest", "lates", before);
    assert_true(dict_count() < DICT_KEYS_MAX && shape_count() < SHAPES_MAX);
}

/* A key that a kind has often is worth a number although the kind has many rare ones. */
static void test_a_key_that_comes_again_is_admitted_after_a_flood_of_rare_ones(void **state)
{
    struct fixture *f = *state;
    size_t before = measure(f, "Early", "early");
    flood(f, "Secret", FLOOD_OBJECTS, 1);
    measure(f, "Secret", "again");
    expect_size(f, "Secret", "again", before);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_rare_keys_of_one_kind_cost_no_other_kind_its_room),
        TEST(test_a_key_that_comes_again_is_admitted_after_a_flood_of_rare_ones),
        TEST(test_rare_keys_of_many_kinds_leave_room_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
