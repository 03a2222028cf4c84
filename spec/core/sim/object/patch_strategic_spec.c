/* Strategic merge patches: lists with a merge key, directives, and all else as in a merge patch. */
#include "sim/object/patch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "schema/schema.h"

static void assert_patched(const char *type, const char *target, const char *patch, const char *expected)
{
    json_t *t = json_loads(target, 0, NULL), *p = json_loads(patch, 0, NULL), *before = json_deep_copy(t);
    assert_non_null(t);
    assert_non_null(p);
    char *message;
    json_t *result = sim_patch_strategic(type ? schema_type(type) : NULL, t, p, &message);
    assert_null(message);
    char *text = json_dumps(result, JSON_COMPACT);
    assert_string_equal(text, expected);
    assert_true(json_equal(t, before));
    free(text);
    json_decref(result);
    json_decref(before);
    json_decref(t);
    json_decref(p);
}

static void maps_are_merged_and_nulls_remove(void **state)
{
    assert_patched(NULL, "{\"a\":{\"x\":1,\"y\":2},\"l\":[1,2]}", "{\"a\":{\"x\":null,\"z\":3},\"l\":[3]}",
                   "{\"a\":{\"y\":2,\"z\":3},\"l\":[3]}");
    assert_patched(NULL, "{}", "{\"a\":{\"b\":null,\"c\":1}}", "{\"a\":{\"c\":1}}");
}

static void lists_with_a_key_are_merged_by_it(void **state)
{
    assert_patched("core/v1.PodSpec",
                   "{\"containers\":[{\"name\":\"a\",\"image\":\"1\"},{\"name\":\"b\",\"image\":\"1\"}]}",
                   "{\"containers\":[{\"name\":\"b\",\"image\":\"2\"},{\"name\":\"c\"}]}",
                   "{\"containers\":[{\"name\":\"a\",\"image\":\"1\"},{\"name\":\"b\",\"image\":\"2\"},"
                   "{\"name\":\"c\"}]}");
    assert_patched("core/v1.ServiceSpec", "{\"ports\":[{\"port\":80,\"name\":\"a\"}]}",
                   "{\"ports\":[{\"port\":80,\"name\":\"b\"}]}",
                   "{\"ports\":[{\"port\":80,\"name\":\"b\"}]}");
    assert_patched("core/v1.PodStatus", "{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\",\"n\":1}]}",
                   "{\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\"}]}",
                   "{\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\",\"n\":1}]}");
}

static void a_set_has_what_stood_twice_once(void **state)
{
    assert_patched("meta/v1.ObjectMeta", "{\"finalizers\":[\"b\",\"b\"]}", "{\"finalizers\":[\"a\"]}",
                   "{\"finalizers\":[\"a\",\"b\"]}");
}

static void an_element_whose_key_is_null_comes_first(void **state)
{
    assert_patched("core/v1.ServiceSpec", "{\"ports\":[{\"port\":80}]}", "{\"ports\":[{\"port\":null}]}",
                   "{\"ports\":[{},{\"port\":80}]}");
}

static void directives_delete_and_replace(void **state)
{
    assert_patched("core/v1.Container", "{\"env\":[{\"name\":\"a\"},{\"name\":\"b\"}]}",
                   "{\"env\":[{\"name\":\"a\",\"$patch\":\"delete\"}]}", "{\"env\":[{\"name\":\"b\"}]}");
    assert_patched("core/v1.Container", "{\"env\":[{\"name\":\"a\"}]}",
                   "{\"env\":[{\"$patch\":\"replace\"},{\"name\":\"c\"}]}", "{\"env\":[{\"name\":\"c\"}]}");
    assert_patched(
        "core/v1.Container", "{\"env\":[{\"name\":\"a\"},{\"name\":\"b\",\"value\":\"1\"},{\"name\":\"d\"}]}",
        "{\"env\":[{\"name\":\"c\"}],\"$setElementOrder/env\":[{\"name\":\"c\"},{\"name\":\"gone\"},"
        "{\"name\":\"b\"}]}",
        "{\"env\":[{\"name\":\"c\"},{\"name\":\"a\"},{\"name\":\"b\",\"value\":\"1\"},"
        "{\"name\":\"d\"}]}");
    assert_patched("core/v1.Container", "{\"args\":[1]}",
                   "{\"$setElementOrder/args\":[1],\"$setElementOrder/none\":[{}]}", "{\"args\":[1]}");
    assert_patched(NULL, "{\"spec\":{\"a\":1}}", "{\"spec\":{\"$patch\":\"replace\",\"b\":2}}",
                   "{\"spec\":{\"b\":2}}");
    assert_patched(NULL, "{\"labels\":{\"a\":\"1\"}}", "{\"labels\":{\"$patch\":\"delete\"}}",
                   "{\"labels\":{}}");
    assert_patched(NULL, "{\"v\":{\"a\":1,\"b\":2}}", "{\"v\":{\"$retainKeys\":[\"a\",\"c\"],\"c\":3}}",
                   "{\"v\":{\"a\":1,\"c\":3}}");
}

static void a_new_element_comes_before_those_that_the_patch_does_not_name(void **state)
{
    assert_patched("core/v1.Container", "{\"env\":[{\"name\":\"a\"},{\"name\":\"b\"}]}",
                   "{\"env\":[{\"name\":\"c\"}]}",
                   "{\"env\":[{\"name\":\"c\"},{\"name\":\"a\"},{\"name\":\"b\"}]}");
    assert_patched("core/v1.Container", "{\"env\":[{\"name\":\"a\"},{\"name\":\"b\"}]}",
                   "{\"env\":[{\"name\":\"b\"},{\"name\":\"c\"}]}",
                   "{\"env\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"}]}");
}

static void finalizers_are_merged_as_a_set(void **state)
{
    assert_patched("meta/v1.ObjectMeta", "{\"finalizers\":[\"a\",\"b\"]}", "{\"finalizers\":[\"b\",\"c\"]}",
                   "{\"finalizers\":[\"a\",\"b\",\"c\"]}");
    assert_patched("meta/v1.ObjectMeta", "{\"finalizers\":[\"a\"]}", "{\"finalizers\":[\"b\",\"b\"]}",
                   "{\"finalizers\":[\"b\",\"a\"]}");
    assert_patched("meta/v1.ObjectMeta", "{}", "{\"finalizers\":[\"b\",\"b\"]}",
                   "{\"finalizers\":[\"b\",\"b\"]}"); /* taken as it is */
    assert_patched("core/v1.Container", "{}", "{\"env\":[{\"name\":\"a\",\"$patch\":\"delete\"}]}",
                   "{\"env\":[]}");
    assert_patched("meta/v1.ObjectMeta", "{\"finalizers\":[\"a\",\"b\"]}",
                   "{\"$deleteFromPrimitiveList/finalizers\":[\"a\",\"z\"]}", "{\"finalizers\":[\"b\"]}");
}

static void assert_refused(const char *type, const char *target, const char *patch, const char *expected)
{
    json_t *t = json_loads(target, 0, NULL), *p = json_loads(patch, 0, NULL);
    char *message;
    assert_non_null(t);
    assert_non_null(p);
    assert_null(sim_patch_strategic(type ? schema_type(type) : NULL, t, p, &message));
    assert_string_equal(message, expected);
    free(message);
    json_decref(t);
    json_decref(p);
}

static void lists_that_cannot_be_merged_are_refused(void **state)
{
    assert_refused("core/v1.Container", "{\"env\":[{\"name\":\"a\"}]}", "{\"env\":[{\"value\":\"x\"}]}",
                   "map: map[value:x] does not contain declared merge key: name");
    assert_refused("core/v1.Container", "{\"env\":[{\"name\":\"a\"}]}", "{\"env\":[\"x\"]}",
                   "list element types are not identical: [[map[name:a]] [x]]");
    assert_refused("meta/v1.ObjectMeta", "{}",
                   "{\"$setElementOrder/finalizers\":[\"b\",\"a\"],\"finalizers\":[\"a\",\"b\"]}",
                   "The order in patch list:\n[a b]\n doesn't match $setElementOrder list:\n[b a]\n");
    assert_patched(
        "core/v1.Container", "{}",
        "{\"$setElementOrder/env\":[{\"name\":\"z\"},{\"name\":\"a\"}],\"env\":[{\"name\":\"a\"}]}",
        "{\"env\":[{\"name\":\"a\"}]}");
}

static void what_is_new_keeps_its_directives(void **state)
{
    assert_patched(NULL, "{}", "{\"a\":{\"$retainKeys\":[\"x\"],\"x\":1}}",
                   "{\"a\":{\"$retainKeys\":[\"x\"],\"x\":1}}");
}

static void what_is_kept_has_all_that_is_set(void **state)
{
    assert_refused(NULL, "{\"a\":{\"x\":1}}", "{\"a\":{\"$retainKeys\":[\"x\"],\"z\":3}}",
                   "invalid patch format of retainKeys");
    assert_refused(NULL, "{\"a\":{\"x\":1}}", "{\"a\":{\"$retainKeys\":\"x\"}}",
                   "invalid patch format of retainKeys");
    assert_patched(NULL, "{\"a\":{\"x\":1,\"y\":2}}", "{\"a\":{\"$retainKeys\":[\"x\"],\"y\":null}}",
                   "{\"a\":{\"x\":1}}");
}

static void each_field_is_merged_as_its_type_says(void **state)
{
    assert_patched("policy/v1.PodDisruptionBudgetSpec", "{\"selector\":{\"matchLabels\":{\"a\":\"b\"}}}",
                   "{\"selector\":{\"matchLabels\":{\"c\":\"d\"}}}",
                   "{\"selector\":{\"matchLabels\":{\"c\":\"d\"}}}");
    assert_patched("apps/v1.DeploymentSpec", "{\"selector\":{\"matchLabels\":{\"a\":\"b\"}}}",
                   "{\"selector\":{\"matchLabels\":{\"c\":\"d\"}}}",
                   "{\"selector\":{\"matchLabels\":{\"a\":\"b\",\"c\":\"d\"}}}");
    assert_patched("core/v1.EndpointSubset", "{\"addresses\":[{\"ip\":\"1\"}],\"ports\":[{\"port\":1}]}",
                   "{\"addresses\":[{\"ip\":\"2\"}],\"ports\":[{\"port\":2}]}",
                   "{\"addresses\":[{\"ip\":\"2\"}],\"ports\":[{\"port\":2}]}");
    assert_patched("core/v1.PodSpec", "{\"schedulingGates\":[{\"name\":\"a\"}]}",
                   "{\"schedulingGates\":[{\"name\":\"b\"}]}",
                   "{\"schedulingGates\":[{\"name\":\"b\"},{\"name\":\"a\"}]}");
}

static void an_unknown_directive_is_an_error(void **state)
{
    assert_refused(NULL, "{\"a\":{}}", "{\"a\":{\"x\":[1,{\"y\":null}],\"$patch\":\"merge\"}}",
                   "unknown patch type: merge in map: map[$patch:merge x:[1 map[y:<nil>]]]");
    assert_patched(NULL, "{\"a\":1}", "{\"b\":{\"$patch\":\"replace\",\"x\":1}}",
                   "{\"a\":1}"); /* of nothing */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_has_what_stood_twice_once),
        cmocka_unit_test(an_element_whose_key_is_null_comes_first),
        cmocka_unit_test(maps_are_merged_and_nulls_remove),
        cmocka_unit_test(lists_with_a_key_are_merged_by_it),
        cmocka_unit_test(directives_delete_and_replace),
        cmocka_unit_test(a_new_element_comes_before_those_that_the_patch_does_not_name),
        cmocka_unit_test(finalizers_are_merged_as_a_set),
        cmocka_unit_test(lists_that_cannot_be_merged_are_refused),
        cmocka_unit_test(what_is_new_keeps_its_directives),
        cmocka_unit_test(what_is_kept_has_all_that_is_set),
        cmocka_unit_test(each_field_is_merged_as_its_type_says),
        cmocka_unit_test(an_unknown_directive_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
