/* core/sim/managed/managed.c: owners of fields after creates, updates and patches. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/managed/managed.h"
#include "sim/text/tree.h"

static int64_t now_s;

/* Writes the object as `manager`; takes `live`. */
static json_t *written(const char *plural, const char *manager, const char *subresource, json_t *live,
                       const char *object)
{
    json_t *given = js(object), *result = json_deep_copy(given);
    const struct sim_author author = {manager, "Update", "v1", subresource, now_s};
    sim_managed_write(kind_named(plural), &author, live, given, result);
    if (live) sim_managed_keep_times(live, result);
    json_decref(live);
    json_decref(given);
    return result;
}

static json_t *configmap(const char *manager, json_t *live, const char *object)
{
    return written("configmaps", manager, NULL, live, object);
}

static void assert_fields(const json_t *object, size_t at, const char *manager, const char *fields)
{
    const json_t *entry = json_array_get(sim_at(object, "metadata.managedFields"), at);
    assert_text_at(entry, "manager", manager);
    assert_json_at(entry, "fieldsV1", fields);
}

static void test_a_create_owns_what_it_brings(void **state)
{
    now_s = 0;
    json_t *object =
        configmap("me", NULL,
                  "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'a','namespace':'b','uid':'u',"
                  "'labels':{'x':'1'},'creationTimestamp':'t'},'data':{'k':'v'},'binaryData':{},'other':1}");
    assert_json_at(object, "metadata.managedFields",
                   "[{'manager':'me','operation':'Update','apiVersion':'v1','time':'1970-01-01T00:00:00Z',"
                   "'fieldsType':'FieldsV1','fieldsV1':{'f:data':{'.':{},'f:k':{}},"
                   "'f:metadata':{'f:labels':{'.':{},'f:x':{}}}}}]");
    json_decref(object);
}

static void test_changed_fields_move(void **state)
{
    now_s = 0;
    json_t *object = configmap("me", NULL, "{'metadata':{'name':'a'},'data':{'a':'1','b':'1','c':'1'}}");
    now_s = 60;
    object = configmap("you", object, "{'metadata':{'name':'a'},'data':{'a':'1','b':'2','d':'1'}}");
    assert_fields(object, 0, "me", "{'f:data':{'.':{},'f:a':{}}}");
    assert_fields(object, 1, "you", "{'f:data':{'f:b':{},'f:d':{}}}");
    object = configmap("you", object, "{'metadata':{'name':'a'}}");
    assert_null(sim_at(object, "metadata.managedFields"));
    json_decref(object);
}

static void test_the_same_again_keeps_times(void **state)
{
    static const char text[] = "{'metadata':{'name':'a'},'data':{'a':'1'}}";
    now_s = 0;
    json_t *first = configmap("me", NULL, text);
    now_s = 60;
    json_t *second = configmap("you", json_incref(first), text);
    assert_true(json_equal(first, second));
    json_decref(first);
    json_decref(second);
}

static void test_an_empty_entry_resets_and_untracked_objects_stay_so(void **state)
{
    json_t *object = configmap("me", NULL, "{'metadata':{'name':'a'},'data':{'a':'1'}}");
    object = configmap("me", object, "{'metadata':{'name':'a','managedFields':[{}]},'data':{'a':'2'}}");
    assert_null(sim_at(object, "metadata.managedFields"));
    object = configmap("me", object, "{'metadata':{'name':'a'},'data':{'a':'3'}}");
    assert_null(sim_at(object, "metadata.managedFields"));
    json_decref(object);
}

static void test_lists_are_owned_by_their_keys(void **state)
{
    json_t *object =
        written("pods", "me", NULL, NULL,
                "{'metadata':{'name':'a','finalizers':['x/y']},'spec':{'containers':[{'name':'c','image':'i',"
                "'resources':{},'command':['a'],'ports':[{'containerPort':80}]}],'securityContext':{}}}");
    assert_fields(
        object, 0, "me",
        "{'f:metadata':{'f:finalizers':{'.':{},'v:\\'x/y\\'':{}}},'f:spec':{'f:containers':{'k:{\\'name\\':"
        "\\'c\\'}':{'.':{},'f:command':{},'f:image':{},'f:name':{},'f:ports':{'.':{},'k:{\\'containerPort\\':"
        "80,"
        "\\'protocol\\':\\'TCP\\'}':{'.':{},'f:containerPort':{}}},'f:resources':{}}},'f:securityContext':{}}"
        "}");
    json_decref(object);
}

static void test_the_status_has_owners_of_its_own(void **state)
{
    static const char text[] = "{'metadata':{'name':'a','labels':{'x':'1'}},'spec':{'nodeName':'n'},"
                               "'status':{'phase':'Running'}}";
    json_t *object = written("pods", "me", NULL, NULL, text);
    assert_fields(object, 0, "me",
                  "{'f:metadata':{'f:labels':{'.':{},'f:x':{}}},'f:spec':{'f:nodeName':{}}}");
    json_object_del(object, "status");
    object = written("pods", "me", "status", object, text);
    assert_fields(object, 1, "me", "{'f:status':{'f:phase':{}}}");
    assert_text_at(json_array_get(sim_at(object, "metadata.managedFields"), 1), "subresource", "status");
    json_decref(object);
}

static void test_ten_updaters_are_kept(void **state)
{
    json_t *object = NULL;
    for (int i = 0; i < 13; i++) {
        char *name = xasprintf("m%02d", i);
        struct buf text = {0};
        now_s = i;
        buf_puts(&text, "{'metadata':{'name':'a'},'data':{'k':'v'");
        for (int k = 0; k <= i; k++) buf_printf(&text, ",'k%d':'v'", k);
        buf_puts(&text, "}}");
        object = configmap(name, object, buf_text(&text));
        buf_clear(&text);
        free(name);
    }
    assert_int_equal(json_array_size(sim_at(object, "metadata.managedFields")), 10);
    assert_fields(object, 0, "ancient-changes",
                  "{'f:data':{'.':{},'f:k':{},'f:k0':{},'f:k1':{},'f:k2':{},'f:k3':{}}}");
    assert_fields(object, 1, "m04", "{'f:data':{'f:k4':{}}}");
    json_decref(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_create_owns_what_it_brings),
        cmocka_unit_test(test_changed_fields_move),
        cmocka_unit_test(test_the_same_again_keeps_times),
        cmocka_unit_test(test_an_empty_entry_resets_and_untracked_objects_stay_so),
        cmocka_unit_test(test_lists_are_owned_by_their_keys),
        cmocka_unit_test(test_the_status_has_owners_of_its_own),
        cmocka_unit_test(test_ten_updaters_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
