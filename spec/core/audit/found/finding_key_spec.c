/* core/audit/found/finding_key.c: what a finding is known again by. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "audit/found/finding_key.h"
#include "base/mem.h"
#include "object/pack/pack.h"

static const struct audit_rule rule = {.id = "a"}, other = {.id = "b"};
static const struct audit_object here = {.api_version = {"apps/v1", 7},
                                         .kind = {"Deployment", 10},
                                         .ns = {"shop", 4},
                                         .name = {"web", 3},
                                         .file = {"a", 1},
                                         .line = 1};

static bool is_same(const struct audit_object *object, const struct audit_row *a, const struct audit_row *b)
{
    char first[FINDING_KEY_SIZE], second[FINDING_KEY_SIZE];
    finding_key(&rule, &here, a, first);
    finding_key(&rule, object, b, second);
    return strcmp(first, second) == 0;
}

static void test_a_key_is_the_same_for_ever(void **state)
{
    char key[FINDING_KEY_SIZE];
    finding_key(&rule, &here, &(const struct audit_row){.path = STR("spec"), .message = STR("1")}, key);
    assert_string_equal(key, "2352a657b45943eb7a263a492d8ccd6f");
    finding_key(&other, &here, &(const struct audit_row){.path = STR("spec"), .message = STR("1")}, key);
    assert_string_not_equal(key, "2352a657b45943eb7a263a492d8ccd6f");
}

static void test_a_key_outlives_moved_lines_and_values_and_versions(void **state)
{
    struct audit_object moved = here, else_where = here;
    const struct audit_row row = {.path = STR("spec"), .message = STR("1")},
                           changed = {.path = STR("spec"), .message = STR("2"), .value = STR("3")},
                           path = {.path = STR("spec.x"), .message = STR("1")};
    moved.api_version = STR("apps/v1beta1");
    moved.file = STR("b");
    moved.line = 9;
    else_where.ns = STR("sho");
    else_where.name = STR("pweb");
    assert_true(is_same(&moved, &row, &changed));
    assert_false(is_same(&else_where, &row, &row));
    assert_false(is_same(&here, &row, &path));
}

static void test_a_place_goes_before_the_path(void **state)
{
    const struct audit_row first = {.path = STR("c[0]"), .place = STR("c[name=a]")},
                           moved = {.path = STR("c[1]"), .place = STR("c[name=a]")},
                           new_one = {.path = STR("c[0]"), .place = STR("c[name=b]")};
    assert_true(is_same(&here, &first, &moved));
    assert_false(is_same(&here, &first, &new_one));
}

static void test_without_a_path_the_message_counts_but_for_its_digits(void **state)
{
    const struct audit_row five = {.message = STR("5 restarts")}, ten = {.message = STR("10 restarts")},
                           more = {.message = STR("5 starts")};
    assert_true(is_same(&here, &five, &ten));
    assert_false(is_same(&here, &five, &more));
}

static void test_elements_go_by_their_names(void **state)
{
    static const struct {
        const char *path, *place;
    } cases[] = {
        {"spec.containers[1].image", ".spec.containers[name=b].image"},
        {"spec.containers[1].env[0].value", ".spec.containers[name=b].env[name=E].value"},
        {"spec.containers[1].args[0]", ".spec.containers[name=b].args[0]"},
        {"spec['containers'][0]", ".spec.containers[name=a]"},
        {"spec.containers[2].image", NULL}, /* it has none */
        {"spec.containers[7].image", NULL},
        {"spec.rules[0].host", NULL},
        {"spec.containers", NULL},
        {"spec.containers[*].image", NULL},
        {"spec.containers[", NULL},
        {"", NULL},
    };
    static char json[1024] = "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web\"},"
                             "\"spec\":{\"containers\":[{\"name\":"
                             "\"a\"},{\"name\":\"b\",\"args\":[\"x\"],\"env\":[{\"name\":\"E\"}]},{\"name\":"
                             "5}],\"rules\":[{\"host\":\"h\"}]}}";
    struct pool *pool = pool_new(NULL);
    struct packer *packer = packer_new(pool);
    struct root *root;
    struct err err;
    if (!pack_text(packer, json, strlen(json), NULL, &root, &err)) fail_msg("%s", err.text);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf out = {0};
        bool has = finding_place(root_value(root), str_of(cases[i].path), &out);
        if (has != (cases[i].place != NULL) || (has && strcmp(buf_text(&out), cases[i].place) != 0))
            fail_msg("%s: %s", cases[i].path, buf_text(&out));
        buf_clear(&out);
    }
    root_unref(root);
    packer_free(packer);
    pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_key_is_the_same_for_ever),
        cmocka_unit_test(test_a_key_outlives_moved_lines_and_values_and_versions),
        cmocka_unit_test(test_a_place_goes_before_the_path),
        cmocka_unit_test(test_without_a_path_the_message_counts_but_for_its_digits),
        cmocka_unit_test(test_elements_go_by_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
