/* What a delete does. The steps were taken down from a v1.36 server. */
#include <string.h>

#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/object/object_rules.h"
#include "sim/object/status.h"
#include "sim/text/tree.h"

static const struct sim_now now = {.seconds = 1767225600, .uid = "u-1", .suffix = "abcde"};

struct outcome {
    enum sim_delete_step step;
    json_t *updated;
    struct sim_refusal refusal;
    bool changed;
};

static struct outcome delete (const char *plural, const char *object, const char *options, int64_t after_s)
{
    struct outcome o = {0};
    struct sim_now later = now;
    json_t *old = js(object), *given = options ? js(options) : NULL;
    later.seconds += after_s;
    o.step = sim_prepare_delete(kind_named(plural), old, given, &later, &o.updated, &o.refusal);
    o.changed = o.updated && !json_equal(old, o.updated);
    assert_json(old, object);
    json_decref(given);
    return o;
}

static void end(struct outcome *o)
{
    json_decref(o->updated);
    json_decref(o->refusal.status);
}

/* The step, and generation, deletionTimestamp and grace period of the update. */
static void assert_update(struct outcome o, enum sim_delete_step step, const char *mark)
{
    assert_int_equal(o.step, step);
    json_t *marks = json_array();
    static const char *const keys[] = {"generation", "deletionTimestamp", "deletionGracePeriodSeconds"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        json_t *value = json_object_get(json_object_get(o.updated, "metadata"), keys[i]);
        json_array_append_new(marks, value ? json_incref(value) : json_null());
    }
    assert_json(marks, mark);
    end(&o);
}

static void test_a_config_map_goes_at_once(void **state)
{
    struct outcome o = delete ("configmaps", "{'metadata':{'name':'m','uid':'u'}}", NULL, 0);
    assert_int_equal(o.step, SIM_DELETE_REMOVE);
    assert_null(o.updated);
    end(&o);
}

static void test_finalizers_make_it_wait(void **state)
{
    struct outcome o = delete (
        "configmaps", "{'metadata':{'name':'m','generation':7,'finalizers':['example.com/a']}}", NULL, 0);
    assert_update(o, SIM_DELETE_UPDATE, "[8,'2026-01-01T00:00:00Z',0]");
    /* A second delete changes nothing. */
    o = delete (
        "configmaps",
        "{'metadata':{'name':'m','deletionTimestamp':'2026-01-01T00:00:00Z','deletionGracePeriodSeconds':0,"
        "'finalizers':['example.com/a']}}",
        NULL, 60);
    assert_int_equal(o.step, SIM_DELETE_UPDATE);
    assert_false(o.changed);
    end(&o);
}

static void assert_finalizers(struct outcome o, const char *expected)
{
    assert_int_equal(o.step, SIM_DELETE_UPDATE);
    assert_json_at(o.updated, "metadata.finalizers", expected);
    end(&o);
}

static void test_a_policy_sets_its_finalizer(void **state)
{
    const char *bare = "{'metadata':{'name':'m','finalizers':['example.com/a','orphan']}}";
    assert_finalizers(
        delete ("configmaps", "{'metadata':{'name':'m'}}", "{'propagationPolicy':'Foreground'}", 0),
        "['foregroundDeletion']");
    assert_finalizers(delete ("pods", "{'metadata':{'name':'m'}}", "{'orphanDependents':true}", 0),
                      "['orphan']");
    assert_finalizers(delete ("configmaps", bare, NULL, 0), "['example.com/a','orphan']");
    /* A pod within its grace period keeps those that it has. */
    assert_finalizers(
        delete ("pods",
                "{'metadata':{'name':'m','finalizers':['example.com/a'],'deletionTimestamp':"
                "'2026-01-01T00:00:30Z','deletionGracePeriodSeconds':30},'spec':{'nodeName':'n'}}",
                "{'propagationPolicy':'Orphan'}", 0),
        "['example.com/a']");
    assert_finalizers(delete ("configmaps", bare, "{'propagationPolicy':'Foreground'}", 0),
                      "['example.com/a','foregroundDeletion']");
    assert_finalizers(delete ("configmaps", bare, "{'propagationPolicy':'Background'}", 0),
                      "['example.com/a']");
    struct outcome o = delete ("configmaps", "{'metadata':{'name':'m','finalizers':['orphan']}}",
                               "{'orphanDependents':false}", 0);
    assert_int_equal(o.step, SIM_DELETE_REMOVE);
    end(&o);
}

static void test_an_unbound_pod_is_marked_and_then_goes(void **state)
{
    assert_update(
        delete ("pods",
                "{'metadata':{'name':'p','generation':1},'spec':{'terminationGracePeriodSeconds':30}}", NULL,
                0),
        SIM_DELETE_REMOVE, "[2,'2026-01-01T00:00:00Z',0]");
    assert_update(delete ("pods",
                          "{'metadata':{'name':'p','generation':1,'finalizers':['example.com/a']},'spec':{}}",
                          NULL, 0),
                  SIM_DELETE_UPDATE, "[2,'2026-01-01T00:00:00Z',0]");
}

#define BOUND \
    "{'metadata':{'name':'p','generation':1},'spec':{'nodeName':'n','terminationGracePeriodSeconds':5}}"
#define DYING                                                                            \
    "{'metadata':{'name':'p','generation':2,'deletionTimestamp':'2026-01-01T00:00:05Z'," \
    "'deletionGracePeriodSeconds':5},'spec':{'nodeName':'n'}}"

static void test_a_bound_pod_has_its_time(void **state)
{
    assert_update(delete ("pods", BOUND, NULL, 0), SIM_DELETE_UPDATE, "[2,'2026-01-01T00:00:05Z',5]");
    assert_update(delete ("pods", "{'metadata':{'name':'p'},'spec':{'nodeName':'n'}}", NULL, 0),
                  SIM_DELETE_UPDATE, "[null,'2026-01-01T00:00:30Z',30]");
    assert_update(delete ("pods", BOUND, "{'gracePeriodSeconds':60}", 0), SIM_DELETE_UPDATE,
                  "[2,'2026-01-01T00:01:00Z',60]");
    assert_update(delete ("pods", BOUND, "{'gracePeriodSeconds':-1}", 0), SIM_DELETE_UPDATE,
                  "[2,'2026-01-01T00:00:01Z',1]");
    assert_update(delete ("pods", BOUND, "{'gracePeriodSeconds':0}", 0), SIM_DELETE_REMOVE,
                  "[2,'2026-01-01T00:00:00Z',0]");
}

static void test_a_pod_that_ended_needs_no_time(void **state)
{
    assert_update(delete ("pods",
                          "{'metadata':{'name':'p'},'spec':{'nodeName':'n'},'status':{'phase':'Succeeded'}}",
                          NULL, 0),
                  SIM_DELETE_REMOVE, "[null,'2026-01-01T00:00:00Z',0]");
    assert_update(delete ("pods",
                          "{'metadata':{'name':'p'},'spec':{'nodeName':'n'},'status':{'phase':'Failed'}}",
                          NULL, 0),
                  SIM_DELETE_REMOVE, "[null,'2026-01-01T00:00:00Z',0]");
}

static void test_the_time_of_a_dying_pod_only_becomes_shorter(void **state)
{
    struct outcome o = delete ("pods", DYING, NULL, 1);
    assert_int_equal(o.step, SIM_DELETE_UPDATE);
    assert_false(o.changed);
    end(&o);
    o = delete ("pods", DYING, "{'gracePeriodSeconds':60}", 1);
    assert_false(o.changed);
    end(&o);
    o = delete ("pods", DYING, "{'gracePeriodSeconds':5}", 10);
    assert_false(o.changed);
    end(&o);
    assert_update(delete ("pods", DYING, "{'gracePeriodSeconds':3}", 1), SIM_DELETE_UPDATE,
                  "[2,'2026-01-01T00:00:03Z',3]");
    /* What is left of it is over already: the shortest time there is. */
    assert_update(delete ("pods", DYING, "{'gracePeriodSeconds':3}", 10), SIM_DELETE_UPDATE,
                  "[2,'2026-01-01T00:00:10Z',1]");
    assert_update(delete ("pods", DYING, "{'gracePeriodSeconds':0}", 10), SIM_DELETE_REMOVE,
                  "[2,'2026-01-01T00:00:10Z',0]");
}

/* As after a crash between the update and the removal. */
static void test_a_pod_whose_time_is_zero_goes_at_once(void **state)
{
    struct outcome o = delete ("pods",
                               "{'metadata':{'name':'p','deletionTimestamp':'2026-01-01T00:00:00Z',"
                               "'deletionGracePeriodSeconds':0},'spec':{'nodeName':'n'}}",
                               NULL, 1);
    assert_int_equal(o.step, SIM_DELETE_REMOVE);
    assert_null(o.updated);
    end(&o);
}

static void test_a_namespace_waits_for_its_content(void **state)
{
    struct outcome o =
        delete ("namespaces",
                "{'metadata':{'name':'team'},'spec':{'finalizers':['kubernetes']},'status':{'phase':"
                "'Active'}}",
                NULL, 0);
    assert_int_equal(o.step, SIM_DELETE_UPDATE);
    assert_json_at(o.updated, "metadata", "{'name':'team','deletionTimestamp':'2026-01-01T00:00:00Z'}");
    assert_json_at(o.updated, "status", "{'phase':'Terminating'}");
    end(&o);
    o = delete (
        "namespaces",
        "{'metadata':{'name':'team','deletionTimestamp':'2026-01-01T00:00:00Z'},'spec':{'finalizers':["
        "'kubernetes']},'status':{'phase':'Terminating'}}",
        NULL, 60);
    assert_int_equal(o.step, SIM_DELETE_UPDATE);
    assert_false(o.changed);
    end(&o);
    o = delete ("namespaces", "{'metadata':{'name':'team'},'spec':{},'status':{'phase':'Active'}}", NULL, 0);
    assert_int_equal(o.step, SIM_DELETE_UPDATE);
    assert_json_at(o.updated, "status", "{'phase':'Terminating'}");
    end(&o);
    o = delete ("namespaces",
                "{'metadata':{'name':'team','deletionTimestamp':'2026-01-01T00:00:00Z'},'spec':{},'status':{'"
                "phase':'Terminating'}}",
                NULL, 0);
    assert_int_equal(o.step, SIM_DELETE_REMOVE);
    end(&o);
}

static void test_preconditions_are_kept(void **state)
{
    static const char pod[] = "{'metadata':{'name':'p2','uid':'u','resourceVersion':'7'},'spec':{}}";
    struct outcome o = delete ("pods", pod, "{'preconditions':{'uid':'x'}}", 0);
    assert_int_equal(o.step, SIM_DELETE_REFUSED);
    assert_json(
        json_incref(o.refusal.status),
        "{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Failure','message':'Operation cannot be "
        "fulfilled on Pod \\'p2\\': the UID in the precondition (x) does not match the UID in record (u). "
        "The "
        "object might have been deleted and then "
        "recreated','reason':'Conflict','details':{'name':'p2','kind':"
        "'Pod'},'code':409}");
    end(&o);
    o = delete ("pods", pod, "{'preconditions':{'uid':'u','resourceVersion':'6'}}", 0);
    assert_int_equal(o.step, SIM_DELETE_REFUSED);
    assert_non_null(
        strstr(sim_text_at(o.refusal.status, "message"),
               "the ResourceVersion in the precondition (6) does not match the ResourceVersion in record "
               "(7). The object might have been modified"));
    end(&o);
    o = delete ("pods", pod, "{'preconditions':{'uid':'u','resourceVersion':'7'}}", 0);
    assert_int_equal(o.step, SIM_DELETE_REMOVE);
    end(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_config_map_goes_at_once),
        cmocka_unit_test(test_finalizers_make_it_wait),
        cmocka_unit_test(test_a_policy_sets_its_finalizer),
        cmocka_unit_test(test_an_unbound_pod_is_marked_and_then_goes),
        cmocka_unit_test(test_a_bound_pod_has_its_time),
        cmocka_unit_test(test_a_pod_that_ended_needs_no_time),
        cmocka_unit_test(test_the_time_of_a_dying_pod_only_becomes_shorter),
        cmocka_unit_test(test_a_pod_whose_time_is_zero_goes_at_once),
        cmocka_unit_test(test_a_namespace_waits_for_its_content),
        cmocka_unit_test(test_preconditions_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
