/* Kinds that every cluster has; see well_known.h. From `kubectl api-resources`. */
#include "kube/kinds/well_known.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "kube/kinds/catalogue.h"

#define NO_SUCH_KIND "no kind \"%.*s\" in the built-in API groups"

static const struct {
    const char *group, *version, *plural, *kind, *short_names;
    bool namespaced;
} kinds[] = {
    {"", "v1", "bindings", "Binding", "", true},
    {"", "v1", "componentstatuses", "ComponentStatus", "cs", false},
    {"", "v1", "configmaps", "ConfigMap", "cm", true},
    {"", "v1", "endpoints", "Endpoints", "ep", true},
    {"", "v1", "events", "Event", "ev", true},
    {"", "v1", "limitranges", "LimitRange", "limits", true},
    {"", "v1", "namespaces", "Namespace", "ns", false},
    {"", "v1", "nodes", "Node", "no", false},
    {"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", "pvc", true},
    {"", "v1", "persistentvolumes", "PersistentVolume", "pv", false},
    {"", "v1", "pods", "Pod", "po", true},
    {"", "v1", "podtemplates", "PodTemplate", "", true},
    {"", "v1", "replicationcontrollers", "ReplicationController", "rc", true},
    {"", "v1", "resourcequotas", "ResourceQuota", "quota", true},
    {"", "v1", "secrets", "Secret", "", true},
    {"", "v1", "serviceaccounts", "ServiceAccount", "sa", true},
    {"", "v1", "services", "Service", "svc", true},
    {"admissionregistration.k8s.io", "v1", "mutatingadmissionpolicies", "MutatingAdmissionPolicy", "", false},
    {"admissionregistration.k8s.io", "v1", "mutatingadmissionpolicybindings",
     "MutatingAdmissionPolicyBinding", "", false},
    {"admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration",
     "", false},
    {"admissionregistration.k8s.io", "v1", "validatingadmissionpolicies", "ValidatingAdmissionPolicy", "",
     false},
    {"admissionregistration.k8s.io", "v1", "validatingadmissionpolicybindings",
     "ValidatingAdmissionPolicyBinding", "", false},
    {"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations",
     "ValidatingWebhookConfiguration", "", false},
    {"apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", "crd,crds",
     false},
    {"apiregistration.k8s.io", "v1", "apiservices", "APIService", "", false},
    {"apps", "v1", "controllerrevisions", "ControllerRevision", "", true},
    {"apps", "v1", "daemonsets", "DaemonSet", "ds", true},
    {"apps", "v1", "deployments", "Deployment", "deploy", true},
    {"apps", "v1", "replicasets", "ReplicaSet", "rs", true},
    {"apps", "v1", "statefulsets", "StatefulSet", "sts", true},
    {"authentication.k8s.io", "v1", "selfsubjectreviews", "SelfSubjectReview", "", false},
    {"authentication.k8s.io", "v1", "tokenreviews", "TokenReview", "", false},
    {"authorization.k8s.io", "v1", "localsubjectaccessreviews", "LocalSubjectAccessReview", "", true},
    {"authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", "", false},
    {"authorization.k8s.io", "v1", "selfsubjectrulesreviews", "SelfSubjectRulesReview", "", false},
    {"authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview", "", false},
    {"autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", "hpa", true},
    {"batch", "v1", "cronjobs", "CronJob", "cj", true},
    {"batch", "v1", "jobs", "Job", "", true},
    {"certificates.k8s.io", "v1", "certificatesigningrequests", "CertificateSigningRequest", "csr", false},
    {"coordination.k8s.io", "v1", "leases", "Lease", "", true},
    {"discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", "", true},
    {"events.k8s.io", "v1", "events", "Event", "ev", true},
    {"flowcontrol.apiserver.k8s.io", "v1", "flowschemas", "FlowSchema", "", false},
    {"flowcontrol.apiserver.k8s.io", "v1", "prioritylevelconfigurations", "PriorityLevelConfiguration", "",
     false},
    {"networking.k8s.io", "v1", "ingressclasses", "IngressClass", "", false},
    {"networking.k8s.io", "v1", "ingresses", "Ingress", "ing", true},
    {"networking.k8s.io", "v1", "ipaddresses", "IPAddress", "ip", false},
    {"networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", "netpol", true},
    {"networking.k8s.io", "v1", "servicecidrs", "ServiceCIDR", "", false},
    {"node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", "", false},
    {"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", "pdb", true},
    {"rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", "", false},
    {"rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", "", false},
    {"rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", "", true},
    {"rbac.authorization.k8s.io", "v1", "roles", "Role", "", true},
    {"resource.k8s.io", "v1", "deviceclasses", "DeviceClass", "", false},
    {"resource.k8s.io", "v1", "resourceclaims", "ResourceClaim", "", true},
    {"resource.k8s.io", "v1", "resourceclaimtemplates", "ResourceClaimTemplate", "", true},
    {"resource.k8s.io", "v1", "resourceslices", "ResourceSlice", "", false},
    {"scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", "pc", false},
    {"storage.k8s.io", "v1", "csidrivers", "CSIDriver", "", false},
    {"storage.k8s.io", "v1", "csinodes", "CSINode", "", false},
    {"storage.k8s.io", "v1", "csistoragecapacities", "CSIStorageCapacity", "", true},
    {"storage.k8s.io", "v1", "storageclasses", "StorageClass", "sc", false},
    {"storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", "", false},
    {"storage.k8s.io", "v1", "volumeattributesclasses", "VolumeAttributesClass", "vac", false},
};

/* Kinds of Kubernetes' own groups that a cluster serves only if they were enabled. */
static const char *const optional[] = {
    "clustertrustbundles",
    "ClusterTrustBundle",
    "podcertificaterequests",
    "PodCertificateRequest",
    "leasecandidates",
    "LeaseCandidate",
    "devicetaintrules",
    "DeviceTaintRule",
    "resourcepoolstatusrequests",
    "ResourcePoolStatusRequest",
    "podschedulingcontexts",
    "PodSchedulingContext",
    "workloads",
    "Workload",
    "podgroups",
    "PodGroup",
    "clustercidrs",
    "ClusterCIDR",
    "podsecuritypolicies",
    "PodSecurityPolicy",
};

/* Splits "crd,crds". */
static char **split(const char *names)
{
    struct str rest = str_of(names), name;
    char **list = xcalloc(strlen(names) + 2, sizeof *list);
    size_t count = 0;
    while (*names && str_cut(&rest, ',', &name)) list[count++] = xstrndup(name.p, name.n);
    return list;
}

void well_known_add(struct catalogue *catalogue, bool core)
{
    for (unsigned i = 0, group = 0; i < ARRAY_LEN(kinds); i++) {
        if (i && strcmp(kinds[i].group, kinds[i - 1].group) != 0) group++;
        if (core != !*kinds[i].group) continue;
        const struct resource resource = {(char *)kinds[i].group, (char *)kinds[i].version,
                                          (char *)kinds[i].plural, (char *)kinds[i].kind,
                                          kinds[i].namespaced};
        struct catalogue_entry *entry = array_add(catalogue->entries, catalogue->count);
        *entry = (struct catalogue_entry){
            .short_names = split(kinds[i].short_names), .group_order = group, .sequence = i};
        resource_copy(&entry->resource, &resource);
    }
}

struct catalogue *catalogue_well_known(void)
{
    struct catalogue *catalogue = catalogue_new();
    well_known_add(catalogue, true);
    well_known_add(catalogue, false);
    catalogue_finish(catalogue);
    return catalogue;
}

/* Returns whether `kind` is optional: "clustertrustbundles.certificates.k8s.io",
 * "scheduling.k8s.io/v1alpha1/Workload". */
static bool is_optional(struct str kind)
{
    struct str name = kind, rest = kind;
    if (memchr(kind.p ? kind.p : "", '/', kind.n))
        while (str_cut(&rest, '/', &name)) continue;
    else
        str_cut(&rest, '.', &name);
    for (size_t i = 0; i < ARRAY_LEN(optional); i++)
        if (strlen(optional[i]) == name.n && strncasecmp(optional[i], name.p, name.n) == 0) return true;
    return false;
}

bool well_known_refuses(const struct catalogue *catalogue, struct str kind, struct err *err)
{
    if (!catalogue_group_lacks(catalogue, kind) || is_optional(kind)) return false;
    err_set(err, ERR_NOT_FOUND, NO_SUCH_KIND, STR_ARG(kind));
    catalogue_explain(catalogue, kind, err);
    return true;
}

bool well_known_refuses_type(const struct catalogue *catalogue, struct str type, struct err *err)
{
    const char *meant = catalogue_kind_meant(catalogue, type);
    if (!meant) return well_known_refuses(catalogue, type, err);
    err_set(err, ERR_NOT_FOUND, NO_SUCH_KIND ", did you mean the kind \"%s\"?", STR_ARG(type), meant);
    return true;
}

void well_known_lacks(const struct catalogue *catalogue, struct str kind, struct err *err)
{
    err_set(err, ERR_NOT_FOUND, "\"%.*s\" is not a built-in kind", STR_ARG(kind));
    catalogue_explain(catalogue, kind, err);
}

bool well_known_may_have(const struct catalogue *catalogue, struct str kind)
{
    struct resource resource;
    struct err err;
    bool is_known = catalogue_resolve(catalogue, kind, &resource, &err);
    if (is_known) resource_clear(&resource);
    return is_known || (resource_name_has_group(kind) && !well_known_refuses(catalogue, kind, &err));
}
