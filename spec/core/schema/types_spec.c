/* Types and fields of the bundle. */
#include "schema/schema.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct schema_field *field(const char *type, const char *name)
{
    const struct schema_field *found = schema_field_named(schema_type(type), str_of(name));
    if (!found) fail_msg("%s has no %s", type, name);
    return found;
}

/* The words of a list, with commas between them. */
static void assert_words(const char *const *list, const char *wanted)
{
    char text[256] = "";
    for (size_t i = 0; list[i]; i++) {
        if (i) strcat(text, ",");
        strcat(text, list[i]);
    }
    assert_string_equal(text, wanted);
}

static void test_a_pod_down_to_its_ports(void **state)
{
    const struct schema_type *pod = schema_type_of_kind(schema_kind("", "v1", "Pod"));
    assert_string_equal(pod->name, "core/v1.Pod");
    assert_string_equal(pod->description, "Pod is a collection of containers that can run on a host.");
    const struct schema_field *metadata = schema_field_named(pod, STR("metadata"));
    assert_string_equal(metadata->object, "meta/v1.ObjectMeta");
    assert_int_equal(schema_field_named(schema_type_of_field(metadata), STR("uid"))->number, 5);
    const struct schema_type *spec = schema_type_of_field(schema_field_named(pod, STR("spec")));
    const struct schema_field *containers = schema_field_named(spec, STR("containers"));
    assert_int_equal(containers->holder, SCHEMA_LIST);
    assert_int_equal(containers->form, SCHEMA_OBJECT);
    assert_true(containers->required && containers->patch_merges && !containers->patch_retains_keys);
    assert_string_equal(containers->merge_key, "name");
    assert_int_equal(containers->merge, SCHEMA_LIST_MAP);
    assert_words(containers->list_keys, "name");
    const struct schema_type *container = schema_type_of_field(containers);
    const struct schema_field *ports = schema_field_named(container, STR("ports"));
    assert_string_equal(ports->merge_key, "containerPort");
    assert_words(ports->list_keys, "containerPort,protocol");
    assert_string_equal(schema_field_named(container, STR("env"))->merge_key, "name");
    const struct schema_field *protocol = schema_field_named(schema_type_of_field(ports), STR("protocol"));
    assert_words(protocol->enums, "SCTP,TCP,UDP");
    assert_string_equal(protocol->value, "\"TCP\"");
    assert_string_equal(protocol->description, "Protocol for port.");
}

static void test_fields_by_protobuf_number(void **state)
{
    const struct schema_type *spec = schema_type("core/v1.PodSpec");
    assert_string_equal(schema_field_numbered(spec, 20)->name, "initContainers");
    assert_string_equal(schema_field_numbered(spec, 3)->name, "restartPolicy");
    assert_null(schema_field_numbered(spec, 0));
    assert_null(schema_field_numbered(spec, 999));
    /* A message of its own there, and fields of the object around it in JSON. */
    const struct schema_type *volume = schema_type("core/v1.Volume");
    const struct schema_field *source = schema_field_numbered(volume, 2);
    assert_string_equal(source->name, "");
    assert_string_equal(source->object, "core/v1.VolumeSource");
    assert_int_equal(schema_field_named(volume, STR("configMap"))->number, 19);
    assert_null(schema_field_named(volume, STR("")));
    /* kind and apiVersion are in no message. */
    assert_int_equal(schema_field_numbered(schema_type("core/v1.Pod"), 1)->name[0], 'm');
    assert_non_null(schema_field_named(schema_type("core/v1.Pod"), STR("apiVersion")));
}

static void test_defaults(void **state)
{
    assert_string_equal(field("core/v1.PodSpec", "restartPolicy")->value, "\"Always\"");
    assert_string_equal(field("core/v1.PodSpec", "terminationGracePeriodSeconds")->value, "30");
    assert_string_equal(field("core/v1.PodSpec", "securityContext")->value, "{}");
    assert_null(field("core/v1.PodSpec", "nodeName")->value);
    assert_string_equal(field("apps/v1.DeploymentSpec", "replicas")->value, "1");
    const struct schema_field *rolling = field("apps/v1.DeploymentStrategy", "rollingUpdate");
    assert_string_equal(rolling->value, "{\"maxUnavailable\":\"25%\",\"maxSurge\":\"25%\"}");
    assert_words(rolling->unless, "type:Recreate");
    assert_words(field("core/v1.Container", "imagePullPolicy")->unless, "image");
    assert_string_equal(field("core/v1.Volume", "emptyDir")->value, "{}");
    assert_string_equal(field("core/v1.Volume", "emptyDir")->unless[0], "hostPath");
    assert_words(field("core/v1.PodSpec", "restartPolicy")->unless, "");
    /* Words of OpenAPI and of custom resources. */
    assert_string_equal(field("apiextensions/v1.CustomResourceDefinitionSpec", "conversion")->value,
                        "{\"strategy\":\"None\"}");
}

static void test_forms(void **state)
{
    static const struct {
        const char *type, *field;
        enum schema_form form;
        enum schema_holder holder;
    } forms[] = {
        {"core/v1.PodSpec", "hostNetwork", SCHEMA_BOOL, SCHEMA_ONE},
        {"core/v1.PodSpec", "priority", SCHEMA_INT32, SCHEMA_ONE},
        {"core/v1.PodSpec", "activeDeadlineSeconds", SCHEMA_INT64, SCHEMA_ONE},
        {"core/v1.PodSpec", "nodeSelector", SCHEMA_STRING, SCHEMA_MAP},
        {"core/v1.PodSpec", "overhead", SCHEMA_QUANTITY, SCHEMA_MAP},
        {"core/v1.Secret", "data", SCHEMA_BYTES, SCHEMA_MAP},
        {"core/v1.HTTPGetAction", "port", SCHEMA_INT_OR_STRING, SCHEMA_ONE},
        {"meta/v1.ObjectMeta", "creationTimestamp", SCHEMA_TIME, SCHEMA_ONE},
        {"meta/v1.ManagedFieldsEntry", "fieldsV1", SCHEMA_JSON, SCHEMA_ONE},
        {"coordination/v1.LeaseSpec", "renewTime", SCHEMA_MICRO_TIME, SCHEMA_ONE},
        {"apps/v1.ControllerRevision", "data", SCHEMA_RAW, SCHEMA_ONE},
        {"certificates/v1.CertificateSigningRequestSpec", "extra", SCHEMA_STRING, SCHEMA_MAP_OF_NAMED_LISTS},
        {"core/v1.Pod", "spec", SCHEMA_OBJECT, SCHEMA_ONE},
        {"apiextensions/v1.JSONSchemaProps", "multipleOf", SCHEMA_DOUBLE, SCHEMA_ONE},
        {"apiextensions/v1.JSONSchemaProps", "items", SCHEMA_SCHEMA_OR_ARRAY, SCHEMA_ONE},
        {"apiextensions/v1.JSONSchemaProps", "dependencies", SCHEMA_SCHEMA_OR_STRINGS, SCHEMA_MAP},
        {"apiextensions/v1.JSONSchemaProps", "additionalProperties", SCHEMA_SCHEMA_OR_BOOL, SCHEMA_ONE},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        assert_int_equal(field(forms[i].type, forms[i].field)->form, forms[i].form);
        assert_int_equal(field(forms[i].type, forms[i].field)->holder, forms[i].holder);
    }
}

static void test_what_json_shows_of_empty_fields(void **state)
{
    assert_true(field("apps/v1.DeploymentSpec", "replicas")->optional);
    assert_true(field("core/v1.Container", "name")->always);
    assert_true(field("core/v1.Container", "resources")->always);
    assert_true(field("core/v1.ContainerStatus", "restartCount")->always);
    assert_false(field("core/v1.Container", "image")->always);
    assert_false(field("meta/v1.ObjectMeta", "creationTimestamp")->always);
}

static void test_lists_and_maps_of_an_apply(void **state)
{
    assert_int_equal(field("meta/v1.ObjectMeta", "finalizers")->merge, SCHEMA_SET);
    assert_true(field("meta/v1.ObjectMeta", "finalizers")->patch_merges);
    assert_null(field("meta/v1.ObjectMeta", "finalizers")->merge_key);
    assert_words(field("meta/v1.ObjectMeta", "ownerReferences")->list_keys, "uid");
    assert_int_equal(field("core/v1.PodSpec", "tolerations")->merge, SCHEMA_ATOMIC);
    assert_int_equal(field("core/v1.PodSpec", "nodeSelector")->merge, SCHEMA_ATOMIC);
    assert_true(field("core/v1.PodSpec", "volumes")->patch_retains_keys);
    assert_true(schema_type("meta/v1.LabelSelector")->atomic);
    assert_false(schema_type("core/v1.PodSpec")->atomic);
}

static void test_types_that_hold_themselves(void **state)
{
    const struct schema_type *props = schema_type("apiextensions/v1.JSONSchemaProps");
    const struct schema_field *properties = schema_field_named(props, STR("properties"));
    assert_int_equal(properties->holder, SCHEMA_MAP);
    assert_ptr_equal(schema_type_of_field(properties), props);
    assert_ptr_equal(schema_type_of_field(field("apiextensions/v1.JSONSchemaProps", "items")), props);
    const struct schema_field *schema = field("apiextensions/v1.CustomResourceValidation", "openAPIV3Schema");
    assert_ptr_equal(schema_type_of_field(schema), props);
}

static void test_what_is_not_there(void **state)
{
    assert_null(schema_type(NULL));
    assert_null(schema_type(""));
    assert_null(schema_type("Pod"));
    assert_null(schema_type("core/v1."));
    assert_null(schema_type("core/v9.Pod"));
    assert_null(schema_type("kinds.Pod"));
    assert_null(schema_type_of_kind(NULL));
    assert_null(schema_type_of_field(NULL));
    assert_null(schema_type_of_field(field("core/v1.PodSpec", "nodeName")));
    assert_null(schema_field_named(NULL, STR("spec")));
    assert_null(schema_field_named(schema_type("core/v1.Pod"), STR("sped")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_pod_down_to_its_ports),
        cmocka_unit_test(test_fields_by_protobuf_number),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_what_json_shows_of_empty_fields),
        cmocka_unit_test(test_lists_and_maps_of_an_apply),
        cmocka_unit_test(test_types_that_hold_themselves),
        cmocka_unit_test(test_what_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
