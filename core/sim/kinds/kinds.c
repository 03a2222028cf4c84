/* The built-in kinds, as a v1.36 server describes them. */
#include "sim/kinds/kinds.h"

#include "base/mem.h"
#include "sim/kinds/columns.h"

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

static const struct sim_kind configmaps = {
    .group = "",
    .version = "v1",
    .kind = "ConfigMap",
    .list_kind = "ConfigMapList",
    .plural = "configmaps",
    .singular = "configmap",
    .short_names = NAMES("cm"),
    .namespaced = true,
    .layout = &sim_layout_configmaps,
};

static const struct sim_kind events = {
    .group = "",
    .version = "v1",
    .kind = "Event",
    .list_kind = "EventList",
    .plural = "events",
    .singular = "event",
    .short_names = NAMES("ev"),
    .field_labels = NAMES("involvedObject.kind", "involvedObject.namespace", "involvedObject.name",
                          "involvedObject.uid", "involvedObject.apiVersion", "involvedObject.resourceVersion",
                          "involvedObject.fieldPath", "reason", "reportingComponent", "source", "type"),
    .namespaced = true,
    .created_by_update = true,
    .layout = &sim_layout_events,
};

static const struct sim_kind namespaces = {
    .group = "",
    .version = "v1",
    .kind = "Namespace",
    .list_kind = "NamespaceList",
    .plural = "namespaces",
    .singular = "namespace",
    .short_names = NAMES("ns"),
    .field_labels = NAMES("status.phase"),
    .name_rule = SIM_NAME_LABEL,
    .has_status = true,
    .returns_deleted = true,
    .no_delete_collection = true,
    .layout = &sim_layout_namespaces,
};

static const struct sim_kind nodes = {
    .group = "",
    .version = "v1",
    .kind = "Node",
    .list_kind = "NodeList",
    .plural = "nodes",
    .singular = "node",
    .short_names = NAMES("no"),
    .field_labels = NAMES("spec.unschedulable"),
    .has_status = true,
    .keeps_first_status = true,
    .layout = &sim_layout_nodes,
};

static const struct sim_kind pods = {
    .group = "",
    .version = "v1",
    .kind = "Pod",
    .list_kind = "PodList",
    .plural = "pods",
    .singular = "pod",
    .short_names = NAMES("po"),
    .categories = NAMES("all"),
    .field_labels = NAMES("spec.nodeName", "spec.restartPolicy", "spec.schedulerName",
                          "spec.serviceAccountName", "spec.hostNetwork", "status.phase", "status.podIP",
                          "status.podIPs", "status.nominatedNodeName"),
    .namespaced = true,
    .has_status = true,
    .has_generation = true,
    .graceful = true,
    .returns_deleted = true,
    .layout = &sim_layout_pods,
};

static const struct sim_kind secrets = {
    .group = "",
    .version = "v1",
    .kind = "Secret",
    .list_kind = "SecretList",
    .plural = "secrets",
    .singular = "secret",
    .field_labels = NAMES("type"),
    .namespaced = true,
    .layout = &sim_layout_secrets,
};

static const struct sim_kind services = {
    .group = "",
    .version = "v1",
    .kind = "Service",
    .list_kind = "ServiceList",
    .plural = "services",
    .singular = "service",
    .short_names = NAMES("svc"),
    .categories = NAMES("all"),
    .field_labels = NAMES("spec.clusterIP", "spec.type"),
    .name_rule = SIM_NAME_LABEL,
    .namespaced = true,
    .has_status = true,
    .returns_deleted = true,
    .created_by_update = true,
    .layout = &sim_layout_services,
};

static const struct sim_kind deployments = {
    .group = "apps",
    .version = "v1",
    .kind = "Deployment",
    .list_kind = "DeploymentList",
    .plural = "deployments",
    .singular = "deployment",
    .short_names = NAMES("deploy"),
    .categories = NAMES("all"),
    .namespaced = true,
    .has_status = true,
    .has_generation = true,
    .layout = &sim_layout_deployments,
};

static const struct sim_kind replicasets = {
    .group = "apps",
    .version = "v1",
    .kind = "ReplicaSet",
    .list_kind = "ReplicaSetList",
    .plural = "replicasets",
    .singular = "replicaset",
    .short_names = NAMES("rs"),
    .categories = NAMES("all"),
    .namespaced = true,
    .has_status = true,
    .has_generation = true,
    .layout = &sim_layout_replicasets,
};

static const struct sim_kind crds = {
    .group = "apiextensions.k8s.io",
    .version = "v1",
    .kind = "CustomResourceDefinition",
    .list_kind = "CustomResourceDefinitionList",
    .plural = "customresourcedefinitions",
    .singular = "customresourcedefinition",
    .short_names = NAMES("crd", "crds"),
    .categories = NAMES("api-extensions"),
    .has_status = true,
    .has_generation = true,
    .needs_version = true,
    .layout = &sim_layout_crds,
};

static const struct sim_kind leases = {
    .group = "coordination.k8s.io",
    .version = "v1",
    .kind = "Lease",
    .list_kind = "LeaseList",
    .plural = "leases",
    .singular = "lease",
    .namespaced = true,
    .needs_version = true,
    .created_by_update = true,
    .layout = &sim_layout_leases,
};

static const struct sim_kind *const builtin[] = {
    &configmaps, &events,      &namespaces,  &nodes, &pods,   &secrets,
    &services,   &deployments, &replicasets, &crds,  &leases,
};

const struct sim_kind *const *sim_builtin_kinds(size_t *count)
{
    *count = ARRAY_LEN(builtin);
    return builtin;
}
