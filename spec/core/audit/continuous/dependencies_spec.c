/* core/audit/continuous/dependencies.c: who looked at what. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "audit/continuous/dependencies.h"
#include "base/buf.h"

static struct buf told;
static char a[] = "a", b[] = "b", c[] = "c", d[] = "d";

static void tell(void *ctx, const struct dependent *dependent)
{
    (void)ctx;
    buf_printf(&told, "%s%s%u", told.len ? " " : "", (const char *)dependent->column, dependent->slot);
}

static const char *who(const struct dependency_index *index, const char *value)
{
    told.len = 0;
    dependency_index_each(index, str_of(value), tell, NULL);
    return buf_text(&told);
}

/* Values are single letters. */
static int32_t dependency(struct dependencies *dependencies, struct dependency_index *index, char *column,
                          uint32_t slot, const char *values)
{
    dependencies_begin(dependencies, &(const struct dependent){column, slot});
    for (; *values; values++) dependencies_note(index, (struct str){values, 1});
    return dependencies_end(dependencies);
}

static void test_a_dependency_is_known_until_it_is_dropped(void **state)
{
    (void)state;
    struct dependencies *dependencies = dependencies_new(100);
    struct dependency_index *index = dependency_index_new(dependencies),
                            *other = dependency_index_new(dependencies);
    int32_t one = dependency(dependencies, index, a, 1, "xyx"),
            two = dependency(dependencies, index, b, 2, "y"),
            three = dependency(dependencies, other, c, 3, "y"),
            none = dependency(dependencies, other, d, 4, "");
    assert_int_equal(none, DEPENDENCY_NONE);
    assert_int_equal(dependencies_count(dependencies), 4); /* the second x is none */
    assert_string_equal(who(index, "x"), "a1");
    assert_string_equal(who(index, "y"), "a1 b2");
    assert_string_equal(who(other, "y"), "c3");
    assert_string_equal(who(other, "x"), "");
    dependencies_drop(dependencies, one);
    assert_string_equal(who(index, "x"), "");
    assert_string_equal(who(index, "y"), "b2");
    dependencies_drop(dependencies, two);
    dependencies_drop(dependencies, three);
    assert_int_equal(dependencies_count(dependencies), 0);
    dependency_index_free(index);
    dependency_index_free(other);
    dependencies_free(dependencies);
}

static void test_there_are_at_most_as_many_as_the_limit(void **state)
{
    (void)state;
    struct dependencies *dependencies = dependencies_new(2);
    struct dependency_index *index = dependency_index_new(dependencies);
    dependencies_begin(dependencies, &(const struct dependent){a, 1});
    assert_true(dependencies_note(index, STR("x")));
    assert_true(dependencies_note(index, STR("y")));
    assert_true(dependencies_note(index, STR("x")));
    assert_false(dependencies_note(index, STR("z")));
    int32_t first_dependency = dependencies_end(dependencies);
    assert_string_equal(who(index, "z"), "");
    dependencies_drop(dependencies, first_dependency);
    dependency(dependencies, index, b, 1, "");
    first_dependency = dependency(dependencies, index, b, 1, "zx");
    assert_string_equal(who(index, "z"), "b1");
    dependencies_drop(dependencies, first_dependency);
    dependency_index_free(index);
    dependencies_free(dependencies);
}

enum { LOOKERS = 40, VALUES = 12 };

/* Against a table of yes and no. */
static void test_it_agrees_with_a_plain_table_whatever_comes(void **state)
{
    (void)state;
    const char *given = getenv("SEED");
    unsigned seed = given ? (unsigned)strtoul(given, NULL, 10) : 20261122;
    printf("SEED=%u\n", seed);
    struct dependencies *dependencies = dependencies_new(10000);
    struct dependency_index *index = dependency_index_new(dependencies);
    bool model[LOOKERS][VALUES] = {{false}};
    int32_t first_dependency[LOOKERS];
    for (int i = 0; i < LOOKERS; i++) first_dependency[i] = DEPENDENCY_NONE;
    for (int round = 0; round < 5000; round++) {
        unsigned who_looks = (unsigned)rand_r(&seed) % LOOKERS, count = (unsigned)rand_r(&seed) % 5;
        dependencies_drop(dependencies, first_dependency[who_looks]);
        memset(model[who_looks], 0, sizeof model[who_looks]);
        dependencies_begin(dependencies, &(const struct dependent){d, who_looks});
        while (count--) {
            unsigned value = (unsigned)rand_r(&seed) % VALUES;
            char text = (char)('a' + value);
            model[who_looks][value] = true;
            assert_true(dependencies_note(index, (struct str){&text, 1}));
        }
        first_dependency[who_looks] = dependencies_end(dependencies);
        char asked[2] = {(char)('a' + rand_r(&seed) % VALUES), '\0'};
        size_t expected = 0, found = 0;
        for (int i = 0; i < LOOKERS; i++) expected += model[i][asked[0] - 'a'];
        for (const char *at = who(index, asked); *at; at++) found += *at == ' ';
        assert_int_equal(expected, told.len ? found + 1 : 0);
    }
    for (int i = 0; i < LOOKERS; i++) dependencies_drop(dependencies, first_dependency[i]);
    dependency_index_free(index);
    dependencies_free(dependencies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_dependency_is_known_until_it_is_dropped),
        cmocka_unit_test(test_there_are_at_most_as_many_as_the_limit),
        cmocka_unit_test(test_it_agrees_with_a_plain_table_whatever_comes),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    buf_clear(&told);
    return failed;
}
