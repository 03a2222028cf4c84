/* core/sim/managed/managed.c: owners of fields after creates, updates and patches. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/lua/lua.h"
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
        "\\'c\\'}':{'.':{},'f:command':{},'f:image':{},'f:imagePullPolicy':{},'f:name':{},'f:ports':{'.':{},"
        "'k:{\\'containerPort\\':80,\\'protocol\\':\\'TCP\\'}':{'.':{},'f:containerPort':{},"
        "'f:protocol':{}}},'f:resources':{},'f:terminationMessagePath':{},'f:terminationMessagePolicy':{}}},"
        "'f:dnsPolicy':{},'f:enableServiceLinks':{},'f:restartPolicy':{},'f:schedulerName':{},"
        "'f:securityContext':{},'f:terminationGracePeriodSeconds':{}}}");
    json_decref(object);
}

static void test_the_status_has_owners_of_its_own(void **state)
{
    static const char text[] = "{'metadata':{'name':'a','labels':{'x':'1'}},'spec':{'finalizers':['f']},"
                               "'status':{'phase':'Active'}}";
    json_t *object = written("namespaces", "me", NULL, NULL, text);
    assert_fields(object, 0, "me",
                  "{'f:metadata':{'f:labels':{'.':{},'f:kubernetes.io/metadata.name':{},'f:x':{}}},"
                  "'f:spec':{'f:finalizers':{}}}");
    json_object_del(object, "status");
    object = written("namespaces", "me", "status", object, text);
    assert_fields(object, 1, "me",
                  "{'f:metadata':{'f:labels':{'f:kubernetes.io/metadata.name':{}}},"
                  "'f:status':{'f:phase':{}}}");
    assert_text_at(json_array_get(sim_at(object, "metadata.managedFields"), 1), "subresource", "status");
    json_decref(object);
}

/* Nobody owns what the server gives: an address, or what it keeps of the object that is there. */
static void test_what_a_body_does_not_say_has_no_owner(void **state)
{
    static const char fields[] =
        "{'f:spec':{'f:internalTrafficPolicy':{},'f:ports':{'.':{},'k:{\\'port\\':80,"
        "\\'protocol\\':\\'TCP\\'}':{'.':{},'f:port':{},'f:protocol':{},"
        "'f:targetPort':{}}},'f:sessionAffinity':{},'f:type':{}}}";
    static const char body[] = "{'metadata':{'name':'a'},'spec':{'ports':[{'port':80}]}}";
    json_t *object = written("services", "me", NULL, NULL, body);
    assert_fields(object, 0, "me", fields);
    sim_set_at(object, "spec.clusterIP", json_string("10.0.0.1"));
    object = written("services", "me", NULL, object, body);
    assert_fields(object, 0, "me", fields);
    json_decref(object);
}

/* A scale of `manager`, to that many; takes `live`. */
static json_t *scaled(const char *manager, json_t *live, int replicas)
{
    json_t *result = json_deep_copy(live);
    sim_set_at(result, "spec.replicas", json_integer(replicas));
    lua_State *L = sim_lua_take("sim.scale_managers", "updated");
    sim_lua_push(L, sim_at(live, "metadata.managedFields"));
    lua_pushstring(L, "spec.replicas");
    lua_pushstring(L, "apps/v1");
    lua_pushstring(L, manager);
    lua_pushboolean(L, sim_int_at(live, "spec.replicas", 0) != replicas);
    lua_pushinteger(L, replicas);
    json_object_set_new(json_object_get(result, "metadata"), "managedFields", sim_lua_call(L));
    json_decref(live);
    return result;
}

static json_t *replica_set(const char *operation)
{
    char *text = xasprintf("{'metadata':{'name':'a','managedFields':[{'manager':'me','operation':'%s',"
                           "'apiVersion':'apps/v1','fieldsType':'FieldsV1','fieldsV1':{'f:spec':"
                           "{'f:paused':{},'f:replicas':{}}}}]},'spec':{'paused':true,'replicas':2}}",
                           operation);
    json_t *object = js(text);
    free(text);
    return object;
}

static void test_who_scales_owns_the_number_alone(void **state)
{
    json_t *object = scaled("scaler", replica_set("Apply"), 3);
    assert_fields(object, 0, "me", "{'f:spec':{'f:paused':{}}}");
    assert_fields(object, 1, "scaler", "{'f:spec':{'f:replicas':{}}}");
    const json_t *entry = json_array_get(sim_at(object, "metadata.managedFields"), 1);
    assert_text_at(entry, "subresource", "scale");
    assert_null(json_object_get(entry, "time"));
    object = scaled("scaler", object, 0);
    assert_fields(object, 0, "me", "{'f:spec':{'f:paused':{}}}");
    assert_int_equal(json_array_size(sim_at(object, "metadata.managedFields")), 1);
    object = scaled("scaler", object, 2); /* a number that nobody owns is not tracked again */
    assert_int_equal(json_array_size(sim_at(object, "metadata.managedFields")), 1);
    json_decref(object);
}

/* As a server does, which takes the updater for another one. */
static void test_the_same_scale_again_parts_an_updater(void **state)
{
    json_t *object = scaled("scaler", replica_set("Apply"), 2);
    assert_fields(object, 0, "me", "{'f:spec':{'f:paused':{},'f:replicas':{}}}");
    json_decref(object);
    object = scaled("scaler", replica_set("Update"), 2);
    assert_fields(object, 0, "me", "{'f:spec':{'f:paused':{}}}");
    assert_fields(object, 1, "me", "{'f:spec':{'f:replicas':{}}}");
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
        cmocka_unit_test(test_what_a_body_does_not_say_has_no_owner),
        cmocka_unit_test(test_who_scales_owns_the_number_alone),
        cmocka_unit_test(test_the_same_scale_again_parts_an_updater),
        cmocka_unit_test(test_ten_updaters_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
