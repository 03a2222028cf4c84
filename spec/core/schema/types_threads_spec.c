/* All types of the bundle, from several threads, when nothing is unpacked yet. */
#include "schema/schema.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Counts fields, and fails where a type, a name or a number does not lead anywhere. */
static size_t walk(const char *name)
{
    const struct schema_type *type = schema_type(name);
    if (!type) fail_msg("no type %s", name);
    for (size_t i = 0; i < type->field_count; i++) {
        const struct schema_field *one = &type->fields[i];
        assert_non_null(one->description);
        if (one->form == SCHEMA_OBJECT && !schema_type_of_field(one)) fail_msg("no type %s", one->object);
        if (one->number) assert_ptr_equal(schema_field_numbered(type, one->number), one);
        if (*one->name) assert_ptr_equal(schema_field_named(type, str_of(one->name)), one);
        assert_true(one->merge != SCHEMA_LIST_MAP || *one->list_keys);
    }
    return type->field_count;
}

static size_t walk_down(const struct schema_type *type, unsigned depth)
{
    size_t count = walk(type->name);
    for (size_t i = 0; depth && i < type->field_count; i++) {
        const struct schema_type *below = schema_type_of_field(&type->fields[i]);
        if (below) count += walk_down(below, depth - 1);
    }
    return count;
}

static void *walk_all(void *arg)
{
    size_t kinds_count;
    const struct schema_kind *kinds = schema_kinds(&kinds_count);
    for (size_t i = 0; i < kinds_count; i++) *(size_t *)arg += walk_down(schema_type_of_kind(&kinds[i]), 5);
    return NULL;
}

static void test_all_types_from_several_threads(void **state)
{
    pthread_t threads[4];
    size_t counts[4] = {0};
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, walk_all, &counts[i]);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    assert_true(counts[0] > 10000);
    for (int i = 1; i < 4; i++) assert_int_equal(counts[i], counts[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_types_from_several_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
