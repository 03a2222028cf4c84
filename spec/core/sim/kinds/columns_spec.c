/* Cells of the built-in kinds; each was compared with what a v1.36 server shows for the same object. */
#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/kinds/table.h"

enum { NOW = 1767225600 }; /* 2026-01-01T00:00:00Z */

static json_t *cells_of(const char *plural, const char *object)
{
    const struct sim_kind *kind = kind_named(plural);
    json_t *value = js(object), *row = sim_table_cells(kind, value, NOW), *columns = sim_table_columns(kind);
    json_t *cells = json_incref(json_array_get(row, 0));
    assert_int_equal(json_array_size(cells), json_array_size(columns));
    json_decref(columns);
    json_decref(row);
    json_decref(value);
    return cells;
}

static void assert_cells(const char *plural, const char *object, const char *cells)
{
    assert_json(cells_of(plural, object), cells);
}

#define META "'metadata':{'name':'x','creationTimestamp':'2025-12-31T23:00:00Z'}"

/* READY, STATUS and RESTARTS of a pod with this spec and status. */
static const char *const pods[][3] = {
    {"{'containers':[{'name':'a'}]}", "{'phase':'Pending'}", "['0/1','Pending','0']"},
    {"{'containers':[{'name':'a'}]}", "{'phase':'Failed','reason':'Evicted'}", "['0/1','Evicted','0']"},
    {"{'containers':[{'name':'a'}]}",
     "{'phase':'Pending','conditions':[{'type':'PodScheduled','status':'False','reason':'SchedulingGated'}]}",
     "['0/1','SchedulingGated','0']"},
    {"{'containers':[{'name':'a'},{'name':'b'}]}",
     "{'phase':'Running','containerStatuses':[{'name':'a','ready':true,'restartCount':1,'state':{'running':{}"
     "},"
     "'lastState':{'terminated':{'exitCode':1,'finishedAt':'2025-12-31T23:49:00Z'}}},{'name':'b','ready':"
     "true,"
     "'restartCount':2,'state':{'running':{}},'lastState':{'terminated':{'exitCode':1,'finishedAt':"
     "'2025-12-31T23:55:00Z'}}}]}",
     "['2/2','Running','3 (5m ago)']"},
    {"{'containers':[{'name':'a'}]}",
     "{'phase':'Running','containerStatuses':[{'name':'a','ready':false,'restartCount':4,'state':{'waiting':{"
     "'reason':"
     "'CrashLoopBackOff'}}}]}",
     "['0/1','CrashLoopBackOff','4']"},
    {"{'containers':[{'name':'a'}]}",
     "{'phase':'Failed','containerStatuses':[{'name':'a','state':{'terminated':{'exitCode':3}}}]}",
     "['0/1','ExitCode:3','0']"},
    {"{'containers':[{'name':'a'}]}",
     "{'phase':'Failed','containerStatuses':[{'name':'a','state':{'terminated':{'exitCode':137,'signal':9}}}]"
     "}",
     "['0/1','Signal:9','0']"},
    /* One container is done, the other runs: the pod runs when it is ready, else it is NotReady. */
    {"{'containers':[{'name':'a'},{'name':'b'}]}",
     "{'phase':'Running','conditions':[{'type':'Ready','status':'True'}],'containerStatuses':[{'name':'a','"
     "state':{"
     "'terminated':{'exitCode':0,'reason':'Completed'}}},{'name':'b','ready':true,'state':{'running':{}}}]}",
     "['1/2','Running','0']"},
    {"{'containers':[{'name':'a'},{'name':'b'}]}",
     "{'phase':'Running','containerStatuses':[{'name':'a','state':{'terminated':{'exitCode':0,'reason':'"
     "Completed'}}},"
     "{'name':'b','ready':true,'state':{'running':{}}}]}",
     "['1/2','NotReady','0']"},
    /* The failure of a later container is not hidden by the completion of an earlier one. */
    {"{'containers':[{'name':'a'},{'name':'b'}]}",
     "{'phase':'Failed','containerStatuses':[{'name':'a','state':{'terminated':{'exitCode':0,'reason':'"
     "Completed'}}},"
     "{'name':'b','state':{'terminated':{'exitCode':1,'reason':'Error'}}}]}",
     "['0/2','Error','0']"},
    {"{'initContainers':[{'name':'i'},{'name':'j'}],'containers':[{'name':'a'}]}",
     "{'phase':'Pending','initContainerStatuses':[{'name':'i','state':{'terminated':{'exitCode':0}}},{'name':"
     "'j',"
     "'state':{'running':{}}}]}",
     "['0/1','Init:1/2','0']"},
    {"{'initContainers':[{'name':'i'}],'containers':[{'name':'a'}]}",
     "{'phase':'Pending','initContainerStatuses':[{'name':'i','restartCount':2,'state':{'waiting':{'reason':"
     "'CrashLoopBackOff'}}}],'containerStatuses':[{'name':'a','state':{'waiting':{'reason':'PodInitializing'}"
     "}}]}",
     "['0/1','Init:CrashLoopBackOff','2']"},
    {"{'initContainers':[{'name':'i'}],'containers':[{'name':'a'}]}",
     "{'phase':'Pending','initContainerStatuses':[{'name':'i','state':{'terminated':{'exitCode':1}}}]}",
     "['0/1','Init:ExitCode:1','0']"},
    {"{'initContainers':[{'name':'i'}],'containers':[{'name':'a'}]}",
     "{'phase':'Pending','initContainerStatuses':[{'name':'i','state':{'waiting':{'reason':'PodInitializing'}"
     "}}]}",
     "['0/1','Init:0/1','0']"},
    /* A sidecar counts as a container, and its restarts go on counting. */
    {"{'initContainers':[{'name':'s','restartPolicy':'Always'}],'containers':[{'name':'a'}]}",
     "{'phase':'Running','initContainerStatuses':[{'name':'s','ready':true,'started':true,'restartCount':1,'"
     "state':{"
     "'running':{}}}],'containerStatuses':[{'name':'a','ready':true,'restartCount':1,'state':{'running':{}}}]"
     "}",
     "['2/2','Running','2']"},
    {"{}", "{}", "['0/0','','0']"},
};

static void test_what_a_pod_is_doing(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(pods); i++) {
        char *object = xasprintf("{" META ",'spec':%s,'status':%s}", pods[i][0], pods[i][1]);
        json_t *all = cells_of("pods", object), *three = json_array();
        for (size_t c = 1; c < 4; c++) json_array_append(three, json_array_get(all, c));
        assert_json(three, pods[i][2]);
        json_decref(all);
        free(object);
    }
}

static void test_a_pod_that_is_being_deleted_is_terminating(void **state)
{
    json_t *cells =
        cells_of("pods", "{'metadata':{'name':'p','deletionTimestamp':'2026-01-01T00:00:00Z'},'status':{"
                         "'phase':'Running'}}");
    assert_string_equal(json_string_value(json_array_get(cells, 2)), "Terminating");
    json_decref(cells);
    cells = cells_of("pods",
                     "{'metadata':{'name':'p','deletionTimestamp':'2026-01-01T00:00:00Z'},'status':{'phase':"
                     "'Running','reason':'NodeLost'}}");
    assert_string_equal(json_string_value(json_array_get(cells, 2)), "Unknown");
    json_decref(cells);
    cells = cells_of("pods",
                     "{'metadata':{'name':'p','deletionTimestamp':'2026-01-01T00:00:00Z'},'status':{'phase':"
                     "'Succeeded'}}");
    assert_string_equal(json_string_value(json_array_get(cells, 2)), "Succeeded");
    json_decref(cells);
}

static void test_the_wide_columns_of_pods(void **state)
{
    assert_cells("pods", "{" META ",'spec':{},'status':{}}",
                 "['x','0/0','','0','60m','<none>','<none>','<none>','<none>']");
    assert_cells(
        "pods",
        "{" META ",'spec':{'nodeName':'n','readinessGates':[{'conditionType':'a'},{'conditionType':'b'}]},"
        "'status':{'podIPs':[{'ip':'10.0.0.1'}],'nominatedNodeName':'m','conditions':[{'type':'b','status':"
        "'True'}]}}",
        "['x','0/0','','0','60m','10.0.0.1','n','m','1/2']");
}

static void test_nodes(void **state)
{
    assert_cells("nodes", "{" META "}",
                 "['x','Unknown','<none>','60m','','<none>','<none>','<unknown>','<unknown>','<unknown>']");
    assert_cells(
        "nodes",
        "{'metadata':{'name':'x','creationTimestamp':'2025-12-31T23:00:00Z','labels':{"
        "'node-role.kubernetes.io/worker':'','node-role.kubernetes.io/control-plane':'','kubernetes.io/role':"
        "'worker'}},'spec':{'unschedulable':true},'status':{'conditions':[{'type':'Ready','status':'False'}],"
        "'addresses':[{'type':'Hostname','address':'h'},{'type':'InternalIP','address':'10.0.0.1'},{'type':"
        "'ExternalIP','address':'1.2.3.4'}],'nodeInfo':{'kubeletVersion':'v1.36.3','osImage':'Debian 12',"
        "'kernelVersion':'6.1.0','containerRuntimeVersion':'containerd://1.7','architecture':'amd64'}}}",
        "['x','NotReady,SchedulingDisabled','control-plane,worker','60m','v1.36.3','10.0.0.1','1.2.3.4',"
        "'Debian 12','6.1.0 (amd64)','containerd://1.7']");
}

#define TEMPLATE "'template':{'spec':{'containers':[{'name':'a','image':'i:1'},{'name':'b','image':'j:2'}]}}"

static void test_workloads(void **state)
{
    assert_cells("deployments",
                 "{" META ",'spec':{'replicas':3,'selector':{'matchLabels':{'b':'2','a':'1'}}," TEMPLATE
                 "},'status':{"
                 "'readyReplicas':2,'updatedReplicas':3,'availableReplicas':1}}",
                 "['x','2/3',3,1,'60m','a,b','i:1,j:2','a=1,b=2']");
    assert_cells(
        "replicasets",
        "{" META ",'spec':{'replicas':3,'selector':{'matchLabels':{'c':'d'},'matchExpressions':[{'key':'z',"
        "'operator':'DoesNotExist'},{'key':'a','operator':'In','values':['y','x']},{'key':'q','operator':"
        "'NotIn','values':['1']},{'key':'b','operator':'Exists'}]}," TEMPLATE "},'status':{'replicas':2}}",
        "['x',3,2,0,'60m','a,b','i:1,j:2','a in (x,y),b,c=d,q notin (1),!z']");
    assert_cells("replicasets", "{" META ",'spec':{'selector':{}}}", "['x',1,0,0,'60m','','','<none>']");
    assert_cells("replicasets",
                 "{" META ",'spec':{'selector':{'matchExpressions':[{'key':'a','operator':'Like'}]}}}",
                 "['x',1,0,0,'60m','','','<invalid>']");
}

static void test_services(void **state)
{
    assert_cells(
        "services",
        "{" META ",'spec':{'type':'ClusterIP','clusterIP':'10.0.0.1','clusterIPs':['10.0.0.1'],'ports':[{"
        "'port':80,'protocol':'TCP'},{'port':53,'nodePort':30053,'protocol':'UDP'}],'selector':{'b':'2','a':"
        "'1'}}}",
        "['x','ClusterIP','10.0.0.1','<none>','80/TCP,53:30053/UDP','60m','a=1,b=2']");
    assert_cells("services", "{" META ",'spec':{'type':'LoadBalancer'}}",
                 "['x','LoadBalancer','<none>','<pending>','<none>','60m','<none>']");
    assert_cells(
        "services",
        "{" META ",'spec':{'type':'LoadBalancer','externalIPs':['5.5.5.5']},'status':{'loadBalancer':{"
        "'ingress':[{'ip':'9.9.9.9'},{'hostname':'a.example.com'},{'ip':'1.1.1.1'},{'ip':'9.9.9.9'}]}}}",
        "['x','LoadBalancer','<none>','1.1.1.1,9.9.9.9,a.example.com,5.5.5.5','<none>','60m','<none>']");
    assert_cells("services", "{" META ",'spec':{'type':'ExternalName','externalName':'db.example.com'}}",
                 "['x','ExternalName','<none>','db.example.com','<none>','60m','<none>']");
}

static void test_events(void **state)
{
    assert_cells(
        "events",
        "{" META ",'type':'Normal','reason':'Pulled','message':' done\\n','count':3,'firstTimestamp':"
        "'2025-12-31T23:00:00Z','lastTimestamp':'2025-12-31T23:59:00Z','involvedObject':{'kind':'Pod','name':"
        "'p','fieldPath':'spec'},'source':{'component':'kubelet','host':'n'}}",
        "['60s','Normal','Pulled','pod/p','spec','kubelet, n','done','60m',3,'x']");
    assert_cells("events",
                 "{" META
                 ",'eventTime':'2025-12-31T23:00:00.123456Z','reportingComponent':'c','involvedObject':{"
                 "'kind':'Node'},'series':{'count':7,'lastObservedTime':'2025-12-31T23:59:30.000000Z'}}",
                 "['30s','','','node','','c','','60m',7,'x']");
    assert_cells("events", "{" META "}", "['<unknown>','','','','','','','<unknown>',1,'x']");
}

static void test_kinds_with_few_columns(void **state)
{
    assert_cells("namespaces", "{" META ",'status':{'phase':'Active'}}", "['x','Active','60m']");
    assert_cells("configmaps", "{" META ",'data':{'a':'1','b':'2'},'binaryData':{'c':'aGk='}}",
                 "['x',3,'60m']");
    assert_cells("secrets", "{" META ",'type':'Opaque','data':{'a':'aGk='}}", "['x','Opaque',1,'60m']");
    assert_cells("leases", "{" META ",'spec':{'holderIdentity':'me'}}", "['x','me','60m']");
    assert_cells("customresourcedefinitions", "{" META "}", "['x','2025-12-31T23:00:00Z']");
}

/* Whatever is stored, a table can be made of it. */
static void test_objects_of_the_wrong_shape_have_cells_too(void **state)
{
    static const char *const plurals[] = {"pods",        "nodes",    "namespaces", "deployments",
                                          "replicasets", "services", "configmaps", "secrets",
                                          "leases",      "events"};
    static const char *const objects[] = {
        "{}", "{'metadata':7,'spec':[],'status':'x','data':[],'involvedObject':1,'series':{}}",
        "{'spec':{'containers':[1],'initContainers':{},'selector':{'matchLabels':{'a':1},'matchExpressions':["
        "2]},"
        "'ports':[3],'externalIPs':[4],'type':'LoadBalancer'},'status':{'conditions':[5],'containerStatuses':"
        "[6,{"
        "'state':7}],'initContainerStatuses':['x'],'addresses':[8],'podIPs':[9],'loadBalancer':{'ingress':[1]"
        "}}}"};
    for (size_t p = 0; p < ARRAY_LEN(plurals); p++)
        for (size_t o = 0; o < ARRAY_LEN(objects); o++) json_decref(cells_of(plurals[p], objects[o]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_a_pod_is_doing),
        cmocka_unit_test(test_a_pod_that_is_being_deleted_is_terminating),
        cmocka_unit_test(test_the_wide_columns_of_pods),
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_workloads),
        cmocka_unit_test(test_services),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_kinds_with_few_columns),
        cmocka_unit_test(test_objects_of_the_wrong_shape_have_cells_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
