/* Nodes and namespaces; see cluster.h. */
#include "sim/store/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/must.h"
#include "sim/text/random.h"
#include "sim/text/template.h"

enum {
    SALT_NODE = 3,
    SALT_NAMESPACE = 4,
    FIRST_NODE_VERSION = 900000000,
    FIRST_NAMESPACE_VERSION = 800000000
};

static const char *const node_holes[] = {"name", "uid", "version", "ip", "zone", "machine"};

// clang-format off
static struct sim_template node_template = {.source =
    "{'metadata':{'name':'<name>','uid':'<uid>','resourceVersion':'<version>','creationTimestamp':'2026-10-01T08:00:00Z',"
    "'labels':{'beta.kubernetes.io/arch':'amd64','beta.kubernetes.io/os':'linux','kubernetes.io/arch':'amd64',"
    "'kubernetes.io/hostname':'<name>','kubernetes.io/os':'linux','node.kubernetes.io/instance-type':'m6i.2xlarge',"
    "'topology.kubernetes.io/region':'eu-west-1','topology.kubernetes.io/zone':'eu-west-1<zone>'},"
    "'annotations':{'node.alpha.kubernetes.io/ttl':'0','volumes.kubernetes.io/controller-managed-attach-detach':'true'}},"
    "'spec':{'podCIDR':'<ip>/24','podCIDRs':['<ip>/24'],'providerID':'aws:///eu-west-1<zone>/i-<machine>'},"
    "'status':{'capacity':{'cpu':'8','ephemeral-storage':'83873772Ki','memory':'32386516Ki','pods':'400'},"
    "'allocatable':{'cpu':'7910m','ephemeral-storage':'76224326324','memory':'31369684Ki','pods':'400'},"
    "'conditions':[{'type':'MemoryPressure','status':'False','lastHeartbeatTime':'2026-11-20T10:00:00Z',"
    "'lastTransitionTime':'2026-10-01T08:00:00Z','reason':'KubeletHasSufficientMemory',"
    "'message':'kubelet has sufficient memory available'},{'type':'DiskPressure','status':'False',"
    "'lastHeartbeatTime':'2026-11-20T10:00:00Z','lastTransitionTime':'2026-10-01T08:00:00Z',"
    "'reason':'KubeletHasNoDiskPressure','message':'kubelet has no disk pressure'},{'type':'PIDPressure','status':'False',"
    "'lastHeartbeatTime':'2026-11-20T10:00:00Z','lastTransitionTime':'2026-10-01T08:00:00Z',"
    "'reason':'KubeletHasSufficientPID','message':'kubelet has sufficient PID available'},{'type':'Ready','status':'True',"
    "'lastHeartbeatTime':'2026-11-20T10:00:00Z','lastTransitionTime':'2026-10-01T08:00:30Z','reason':'KubeletReady',"
    "'message':'kubelet is posting ready status'}],'addresses':[{'type':'InternalIP','address':'<ip>'},"
    "{'type':'Hostname','address':'<name>'}],'daemonEndpoints':{'kubeletEndpoint':{'Port':10250}},"
    "'nodeInfo':{'machineID':'<machine>','systemUUID':'<uid>','bootID':'<uid>','kernelVersion':'6.1.0-28-amd64',"
    "'osImage':'Debian GNU/Linux 12 (bookworm)','containerRuntimeVersion':'containerd://1.7.24',"
    "'kubeletVersion':'v1.36.3','kubeProxyVersion':'','operatingSystem':'linux','architecture':'amd64'}}}"};

static const char *const namespace_holes[] = {"name", "uid", "version"};

static struct sim_template namespace_template = {.source =
    "{'metadata':{'name':'<name>','uid':'<uid>','resourceVersion':'<version>','creationTimestamp':'2026-10-01T08:00:00Z',"
    "'labels':{'kubernetes.io/metadata.name':'<name>'}},'spec':{'finalizers':['kubernetes']},'status':{'phase':'Active'}}"};
// clang-format on

static int by_key(const void *a, const void *b)
{
    return strcmp((*(struct sim_object *const *)a)->key, (*(struct sim_object *const *)b)->key);
}

void sim_load_sorted(struct sim_store *store, const char *plural, struct sim_object **objects, size_t n)
{
    qsort(objects, n, sizeof *objects, by_key);
    struct sim_served *served = sim_store_find(store, "", "v1", plural);
    must(served);
    sim_store_fill(store, served->resource, objects, n);
}

static struct sim_object *fill(const struct sim_template *template, const struct str *values)
{
    struct buf text = {0};
    sim_template_fill(template, values, &text);
    struct sim_object *object = sim_object_from_text(buf_slice(&text));
    buf_clear(&text);
    must(object);
    return object;
}

void sim_node_name(size_t number, char *out, size_t room)
{
    snprintf(out, room, "ip-10-%zu-%zu-%zu.eu-west-1.compute.internal", number % 10, number / 10 % 10,
             number / 100);
}

static struct sim_object *node(size_t number)
{
    struct sim_random random = sim_random_seed(SALT_NODE, number);
    char name[64], uid[SIM_UID_LEN + 1], version[24], ip[32], zone[2] = {"abc"[number % 3], '\0'},
                                                              machine[33];
    sim_node_name(number, name, sizeof name);
    sim_random_uid(&random, uid);
    sim_random_hex(&random, machine, 32);
    snprintf(version, sizeof version, "%zu", FIRST_NODE_VERSION + number);
    snprintf(ip, sizeof ip, "10.%zu.%zu.%zu", number % 10, number / 10 % 10, number / 100);
    const struct str values[] = {str_of(name), str_of(uid),  str_of(version),
                                 str_of(ip),   str_of(zone), str_of(machine)};
    return fill(&node_template, values);
}

void sim_load_nodes(struct sim_store *store, size_t count)
{
    struct sim_object **objects = xmalloc((count + 1) * sizeof(struct sim_object *));
    sim_template_parse(&node_template, node_holes, ARRAY_LEN(node_holes));
    for (size_t i = 0; i < count; i++) objects[i] = node(i);
    sim_template_clear(&node_template);
    sim_load_sorted(store, "nodes", objects, count);
    free(objects);
}

static struct sim_object *namespace(const char *name, size_t number)
{
    struct sim_random random = sim_random_seed(SALT_NAMESPACE, sim_random_text(name));
    char uid[SIM_UID_LEN + 1], version[24];
    sim_random_uid(&random, uid);
    snprintf(version, sizeof version, "%zu", FIRST_NAMESPACE_VERSION + number);
    const struct str values[] = {str_of(name), str_of(uid), str_of(version)};
    return fill(&namespace_template, values);
}

void sim_load_namespaces(struct sim_store *store, size_t teams)
{
    static const char *const always[] = {"default", "kube-node-lease", "kube-public", "kube-system"};
    struct sim_object **objects = xmalloc((teams + ARRAY_LEN(always)) * sizeof(struct sim_object *));
    size_t n = 0;
    sim_template_parse(&namespace_template, namespace_holes, ARRAY_LEN(namespace_holes));
    for (; n < ARRAY_LEN(always); n++) objects[n] = namespace(always[n], n);
    for (size_t i = 0; i < teams; i++, n++) {
        char name[32];
        snprintf(name, sizeof name, "team-%03zu", i);
        objects[n] = namespace(name, n);
    }
    sim_template_clear(&namespace_template);
    sim_load_sorted(store, "namespaces", objects, n);
    free(objects);
}
