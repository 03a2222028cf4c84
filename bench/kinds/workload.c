/* Kinds that controllers and kubelets write: Deployments, Nodes, EndpointSlices, Events, Leases; see
 * writers.h. */
#include "writers.h"

#include <string.h>

enum { ENDPOINTS = 1000, IMAGES = 50, IMAGES_OF_ALL = 400 };

#define CREATED "\"creationTimestamp\":\"2026-01-02T03:04:05Z\""

static unsigned minute(size_t state)
{
    return (unsigned)(state * 7 % 60);
}

static void deployment_metadata(struct buf *out, size_t i, size_t state)
{
    buf_printf(
        out,
        "\"metadata\":{\"name\":\"web-%04zu\",\"namespace\":\"team-%03zu\","
        "\"uid\":\"d888b835-1d93-43dc-984d-%012zu\",\"resourceVersion\":\"%llu\",\"generation\":3," CREATED
        ",\"labels\":{\"app.kubernetes.io/instance\":\"web-%04zu\",\"app.kubernetes.io/name\":\"web\","
        "\"helm.sh/chart\":\"web-1.%zu.0\"},\"annotations\":{\"deployment.kubernetes.io/revision\":\"%zu\","
        "\"kubectl.kubernetes.io/last-applied-configuration\":\"{\\\"apiVersion\\\":\\\"apps/v1\\\","
        "\\\"kind\\\":\\\"Deployment\\\",\\\"metadata\\\":{\\\"name\\\":\\\"web-%04zu\\\"},"
        "\\\"spec\\\":{\\\"replicas\\\":3,\\\"template\\\":{\\\"spec\\\":{\\\"containers\\\":[{"
        "\\\"command\\\":"
        "[\\\"sh\\\",\\\"-c\\\",\\\"migrate \\u0026\\u0026 exec serve\\\"],\\\"image\\\":"
        "\\\"registry.example.com/web:1.%zu.0\\\",\\\"name\\\":\\\"web\\\"}]}}}}\\n\"},\"managedFields\":[",
        i, i % 97, i, (unsigned long long)kind_version(i, state), i, i % 9, 1 + i % 5, i, i % 9);
    write_manager(
        out, true, "kubectl-client-side-apply", NULL, 0,
        "\"f:metadata\":{\"f:annotations\":{\".\":{},\"f:kubectl.kubernetes.io/"
        "last-applied-configuration\":{}},\"f:labels\":{\".\":{},\"f:app.kubernetes.io/instance\":{},"
        "\"f:app.kubernetes.io/name\":{}}},\"f:spec\":{\"f:progressDeadlineSeconds\":{},"
        "\"f:replicas\":{},\"f:selector\":{},\"f:strategy\":{},\"f:template\":{\"f:spec\":"
        "{\"f:containers\":{\"k:{\\\"name\\\":\\\"web\\\"}\":{\".\":{},\"f:command\":{},\"f:image\":{},"
        "\"f:name\":{},\"f:resources\":{}}}}}}");
    write_manager(out, false, "kube-controller-manager", "status", state,
                  "\"f:status\":{\"f:availableReplicas\":{},\"f:conditions\":{\".\":{},"
                  "\"k:{\\\"type\\\":\\\"Available\\\"}\":{\".\":{},\"f:lastTransitionTime\":{},"
                  "\"f:status\":{},\"f:type\":{}}},\"f:readyReplicas\":{},\"f:replicas\":{}}");
    buf_puts(out, "]}");
}

static void deployment_spec(struct buf *out, size_t i)
{
    buf_printf(
        out,
        ",\"spec\":{\"replicas\":3,\"selector\":{\"matchLabels\":{\"app.kubernetes.io/instance\":"
        "\"web-%04zu\"}},\"template\":{\"metadata\":{\"labels\":{\"app.kubernetes.io/"
        "instance\":\"web-%04zu\","
        "\"app.kubernetes.io/name\":\"web\"}},\"spec\":{\"containers\":[{\"name\":\"web\",\"image\":"
        "\"registry.example.com/web:1.%zu.0\",\"command\":[\"sh\",\"-c\",\"migrate \\u0026\\u0026 exec "
        "serve\"],"
        "\"ports\":[{\"name\":\"http\",\"containerPort\":8080,\"protocol\":\"TCP\"}],\"env\":[{\"name\":"
        "\"INSTANCE\",\"value\":\"web-%04zu\"},{\"name\":\"LIMIT\",\"value\":\"%zu\"}],\"resources\":{"
        "\"limits\":"
        "{\"cpu\":\"%zu00m\",\"memory\":\"256Mi\"},\"requests\":{\"cpu\":\"100m\",\"memory\":\"128Mi\"}},"
        "\"livenessProbe\":{\"httpGet\":{\"path\":\"/healthz\",\"port\":\"http\",\"scheme\":\"HTTP\"},"
        "\"timeoutSeconds\":1,\"periodSeconds\":10,\"successThreshold\":1,\"failureThreshold\":3},"
        "\"terminationMessagePath\":\"/dev/termination-log\",\"terminationMessagePolicy\":\"File\","
        "\"imagePullPolicy\":\"IfNotPresent\"}],\"restartPolicy\":\"Always\","
        "\"terminationGracePeriodSeconds\":30,\"dnsPolicy\":\"ClusterFirst\",\"serviceAccountName\":\"web\","
        "\"securityContext\":{},\"schedulerName\":\"default-scheduler\"}},\"strategy\":{\"type\":"
        "\"RollingUpdate\",\"rollingUpdate\":{\"maxUnavailable\":\"25%%\",\"maxSurge\":\"25%%\"}},"
        "\"revisionHistoryLimit\":10,\"progressDeadlineSeconds\":600}",
        i, i, i % 9, i, 100 + i % 50, 2 + i % 8);
}

void write_deployment(struct buf *out, size_t i, size_t state)
{
    size_t ready = state % 2 ? 2 : 3;
    deployment_metadata(out, i, state);
    deployment_spec(out, i);
    buf_printf(
        out,
        ",\"status\":{\"observedGeneration\":3,\"replicas\":3,\"updatedReplicas\":3,\"readyReplicas\":%zu,"
        "\"availableReplicas\":%zu,\"conditions\":[{\"type\":\"Progressing\",\"status\":\"True\","
        "\"lastUpdateTime\":\"2026-01-02T03:04:05Z\",\"lastTransitionTime\":\"2026-01-02T03:04:05Z\","
        "\"reason\":\"NewReplicaSetAvailable\",\"message\":\"ReplicaSet \\\"web-%04zu-5c96d7c6d\\\" has "
        "successfully progressed.\"},{\"type\":\"Available\",\"status\":\"%s\",\"lastUpdateTime\":"
        "\"2026-01-03T04:%02u:07Z\",\"lastTransitionTime\":\"2026-01-03T04:%02u:07Z\",\"reason\":\"%s\","
        "\"message\":\"Deployment %s minimum availability.\"}]}}",
        ready, ready, i, ready == 3 ? "True" : "False", minute(state), minute(state),
        ready == 3 ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
        ready == 3 ? "has" : "does not have");
}

/* A kubelet's heartbeat: only times change. */
static void node_conditions(struct buf *out, size_t state)
{
    static const char *const conditions[][3] = {
        {"MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"},
        {"DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"},
        {"PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"},
        {"Ready", "KubeletReady", "kubelet is posting ready status"},
    };
    for (size_t k = 0; k < 4; k++)
        buf_printf(out,
                   "%s{\"type\":\"%s\",\"status\":\"%s\",\"lastHeartbeatTime\":\"2026-01-03T04:%02u:07Z\","
                   "\"lastTransitionTime\":\"2026-01-02T03:04:05Z\",\"reason\":\"%s\",\"message\":\"%s\"}",
                   k ? "," : "", conditions[k][0], k == 3 ? "True" : "False", minute(state), conditions[k][1],
                   conditions[k][2]);
}

static void node_images(struct buf *out, size_t i)
{
    for (size_t k = 0; k < IMAGES; k++) {
        size_t image = (i * 13 + k * 7) % IMAGES_OF_ALL;
        buf_printf(out, "%s{\"names\":[\"registry.example.com/team/image-%03zu@sha256:", k ? "," : "", image);
        for (size_t part = 0; part < 4; part++)
            buf_printf(out, "%016llx", (unsigned long long)kind_random(image, part));
        buf_printf(out, "\",\"registry.example.com/team/image-%03zu:1.%zu.%zu\"],\"sizeBytes\":%zu}", image,
                   image % 17, image % 5, 10000000 + image * 7919001 % 900000000);
    }
}

static void node_metadata(struct buf *out, size_t i, size_t state)
{
    buf_printf(
        out,
        "\"metadata\":{\"name\":\"node-%05zu\",\"uid\":\"1c8f2b11-aaaa-4bbb-8ccc-%012zu\","
        "\"resourceVersion\":\"%llu\"," CREATED
        ",\"labels\":{\"beta.kubernetes.io/arch\":\"amd64\",\"beta.kubernetes.io/os\":\"linux\","
        "\"kubernetes.io/arch\":\"amd64\",\"kubernetes.io/hostname\":\"node-%05zu\","
        "\"kubernetes.io/os\":\"linux\",\"node.kubernetes.io/instance-type\":\"m6i.%zuxlarge\","
        "\"topology.kubernetes.io/region\":\"eu-west-1\",\"topology.kubernetes.io/zone\":\"eu-west-1%c\"},"
        "\"annotations\":{\"node.alpha.kubernetes.io/ttl\":\"0\","
        "\"volumes.kubernetes.io/controller-managed-attach-detach\":\"true\"},\"managedFields\":[",
        i, i, (unsigned long long)kind_version(i, state), i, (size_t)2 << i % 3, (char)('a' + i % 3));
    write_manager(
        out, true, "kubelet", "status", state,
        "\"f:status\":{\"f:conditions\":{\"k:{\\\"type\\\":\\\"DiskPressure\\\"}\":"
        "{\"f:lastHeartbeatTime\":{}},\"k:{\\\"type\\\":\\\"MemoryPressure\\\"}\":"
        "{\"f:lastHeartbeatTime\":{}},\"k:{\\\"type\\\":\\\"Ready\\\"}\":{\"f:lastHeartbeatTime\":{}}},"
        "\"f:images\":{}}");
    buf_puts(out, "]}");
}

void write_node(struct buf *out, size_t i, size_t state)
{
    node_metadata(out, i, state);
    buf_printf(
        out,
        ",\"spec\":{\"podCIDR\":\"10.%zu.%zu.0/24\",\"podCIDRs\":[\"10.%zu.%zu.0/24\"],\"providerID\":"
        "\"aws:///eu-west-1a/i-%017zx\"},\"status\":{\"capacity\":{\"cpu\":\"8\",\"ephemeral-storage\":"
        "\"83873772Ki\",\"hugepages-1Gi\":\"0\",\"hugepages-2Mi\":\"0\",\"memory\":\"32386544Ki\",\"pods\":"
        "\"58\"},"
        "\"allocatable\":{\"cpu\":\"7910m\",\"ephemeral-storage\":\"76224326324\",\"hugepages-1Gi\":\"0\","
        "\"hugepages-2Mi\":\"0\",\"memory\":\"31369712Ki\",\"pods\":\"58\"},\"conditions\":[",
        i / 250, i % 250, i / 250, i % 250, i);
    node_conditions(out, state);
    buf_printf(
        out,
        "],\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"172.16.%zu.%zu\"},{\"type\":\"Hostname\","
        "\"address\":\"node-%05zu\"}],\"daemonEndpoints\":{\"kubeletEndpoint\":{\"Port\":10250}},"
        "\"nodeInfo\":{"
        "\"machineID\":\"%016llx%016llx\",\"systemUUID\":\"ec2f%04zx-1111-4222-8333-%012zx\","
        "\"bootID\":\"%08llx-5555-4666-8777-%012zx\",\"kernelVersion\":\"6.1.0-28-cloud-amd64\",\"osImage\":"
        "\"Debian GNU/Linux 12 (bookworm)\",\"containerRuntimeVersion\":\"containerd://1.7.24\","
        "\"kubeletVersion\":\"v1.34.2\",\"kubeProxyVersion\":\"\",\"operatingSystem\":\"linux\","
        "\"architecture\":\"amd64\"},\"images\":[",
        i / 250, i % 250, i, (unsigned long long)kind_random(i, 11), (unsigned long long)kind_random(i, 12),
        i % 65536, i, (unsigned long long)(kind_random(i, 13) >> 32), i);
    node_images(out, i);
    buf_puts(out, "]}}");
}

/* One endpoint is ready in some states alone. */
void write_endpoints(struct buf *out, size_t i, size_t state)
{
    write_metadata(out, "web", i, state);
    buf_puts(out, ",\"addressType\":\"IPv4\",\"endpoints\":[");
    for (size_t k = 0; k < ENDPOINTS; k++) {
        bool ready = k != 500 || state % 2 == 0;
        buf_printf(out,
                   "%s{\"addresses\":[\"10.%zu.%zu.%zu\"],\"conditions\":{\"ready\":%s,\"serving\":%s,"
                   "\"terminating\":false},\"targetRef\":{\"kind\":\"Pod\",\"namespace\":\"team-%03zu\","
                   "\"name\":\"web-%04zu-5c96d7c6d-%05zx\",\"uid\":\"9f3b7a10-5e1c-4c1d-%04zx-%012zx\"},"
                   "\"nodeName\":\"node-%03zu\",\"zone\":\"eu-west-1%c\"}",
                   k ? "," : "", i % 200, k / 250, k % 250 + 1, ready ? "true" : "false",
                   ready ? "true" : "false", i % 7, i, k * 7919 % 99991, i, k, k % 300, (char)('a' + k % 3));
    }
    buf_puts(out, "],\"ports\":[{\"name\":\"http\",\"port\":8080,\"protocol\":\"TCP\"}]}");
}

void write_event(struct buf *out, size_t i, size_t state)
{
    static const char *const reasons[][2] = {
        {"BackOff", "Back-off restarting failed container web in pod web-"},
        {"Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503 of pod web-"},
        {"Pulled",
         "Container image \\\"registry.example.com/web:1.4.0\\\" already present on machine for web-"},
    };
    size_t pod = i / 3, reason = i % 3;
    buf_printf(out,
               "\"metadata\":{\"name\":\"web-%05zu-5c96d7c6d.%016llx\",\"namespace\":\"team-%03zu\","
               "\"uid\":\"7a1b835e-1d93-43dc-984d-%012zu\",\"resourceVersion\":\"%llu\"," CREATED
               ",\"managedFields\":[",
               pod, (unsigned long long)kind_random(i, 1) >> 8, pod % 97, i,
               (unsigned long long)kind_version(i, state));
    write_manager(
        out, true, "kubelet", NULL, state,
        "\"f:count\":{},\"f:firstTimestamp\":{},\"f:involvedObject\":{},\"f:lastTimestamp\":{},"
        "\"f:message\":{},\"f:reason\":{},\"f:reportingComponent\":{},\"f:source\":{\"f:component\":{},"
        "\"f:host\":{}},\"f:type\":{}");
    buf_printf(
        out,
        "]},\"involvedObject\":{\"kind\":\"Pod\",\"namespace\":\"team-%03zu\",\"name\":\"web-%05zu-"
        "5c96d7c6d\","
        "\"uid\":\"d888b835-1d93-43dc-984d-%012zu\",\"apiVersion\":\"v1\",\"resourceVersion\":\"%zu\","
        "\"fieldPath\":\"spec.containers{web}\"},\"reason\":\"%s\",\"message\":\"%s%05zu\",\"source\":{"
        "\"component\":\"kubelet\",\"host\":\"node-%03zu\"},\"firstTimestamp\":\"2026-01-03T03:%02zu:%"
        "02zuZ\","
        "\"lastTimestamp\":\"2026-01-03T04:%02u:%02zuZ\",\"count\":%zu,\"type\":\"%s\",\"eventTime\":null,"
        "\"reportingComponent\":\"kubelet\",\"reportingInstance\":\"node-%03zu\"}",
        pod % 97, pod, pod, 500000 + pod, reasons[reason][0], reasons[reason][1], pod, pod % 300, i % 60,
        i / 60 % 60, minute(state), i % 60, 1 + i % 40 + state, reason == 2 ? "Normal" : "Warning",
        pod % 300);
}

void write_lease(struct buf *out, size_t i, size_t state)
{
    buf_printf(out,
               "\"metadata\":{\"name\":\"node-%05zu\",\"namespace\":\"kube-node-lease\","
               "\"uid\":\"5e3f835e-1d93-43dc-984d-%012zu\",\"resourceVersion\":\"%llu\"," CREATED
               ",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"node-%05zu\","
               "\"uid\":\"1c8f2b11-aaaa-4bbb-8ccc-%012zu\"}],\"managedFields\":[",
               i, i, (unsigned long long)kind_version(i, state), i, i);
    write_manager(out, true, "kubelet", NULL, state,
                  "\"f:metadata\":{\"f:ownerReferences\":{\".\":{},\"k:{\\\"uid\\\":"
                  "\\\"1c8f2b11-aaaa-4bbb-8ccc-000000000000\\\"}\":{}}},\"f:spec\":{\"f:holderIdentity\":{},"
                  "\"f:leaseDurationSeconds\":{},\"f:renewTime\":{}}");
    buf_printf(out,
               "]},\"spec\":{\"holderIdentity\":\"node-%05zu\",\"leaseDurationSeconds\":40,"
               "\"renewTime\":\"2026-01-03T04:%02u:07.%06zuZ\"}}",
               i, minute(state), i * 7919 % 1000000);
}
