/* Kinds that `kubelua sim` does not have and tests of scripts want: they have the rules of every kind, and
 * none of their own. As a v1.36 server names them. */
#include "sim/api/inside_kinds.h"

#include <ctype.h>

#include "base/mem.h"

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})
/* Group, version, kind, plural, singular, short names or NULL, namespaced, with a status. */
#define KIND(g, v, k, p, s, shorts, ns, st)                                                               \
    {                                                                                                     \
        .group = (g), .version = (v), .kind = (k), .list_kind = k "List", .plural = (p), .singular = (s), \
        .short_names = (shorts), .namespaced = (ns), .has_status = (st), .has_generation = (st)           \
    }

static struct sim_kind kinds[] = {
    KIND("", "v1", "Endpoints", "endpoints", "endpoints", NAMES("ep"), true, false),
    KIND("", "v1", "LimitRange", "limitranges", "limitrange", NAMES("limits"), true, false),
    KIND("", "v1", "PersistentVolume", "persistentvolumes", "persistentvolume", NAMES("pv"), false, true),
    KIND("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", "persistentvolumeclaim", NAMES("pvc"),
         true, true),
    KIND("", "v1", "ReplicationController", "replicationcontrollers", "replicationcontroller", NAMES("rc"),
         true, true),
    KIND("", "v1", "ResourceQuota", "resourcequotas", "resourcequota", NAMES("quota"), true, true),
    KIND("", "v1", "ServiceAccount", "serviceaccounts", "serviceaccount", NAMES("sa"), true, false),
    KIND("apps", "v1", "DaemonSet", "daemonsets", "daemonset", NAMES("ds"), true, true),
    KIND("apps", "v1", "StatefulSet", "statefulsets", "statefulset", NAMES("sts"), true, true),
    KIND("batch", "v1", "Job", "jobs", "job", NULL, true, true),
    KIND("batch", "v1", "CronJob", "cronjobs", "cronjob", NAMES("cj"), true, true),
    KIND("autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers",
         "horizontalpodautoscaler", NAMES("hpa"), true, true),
    KIND("networking.k8s.io", "v1", "Ingress", "ingresses", "ingress", NAMES("ing"), true, true),
    KIND("networking.k8s.io", "v1", "IngressClass", "ingressclasses", "ingressclass", NULL, false, false),
    KIND("networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies", "networkpolicy", NAMES("netpol"),
         true, false),
    KIND("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", "poddisruptionbudget", NAMES("pdb"),
         true, true),
    KIND("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", "clusterrole", NULL, false, false),
    KIND("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", "clusterrolebinding",
         NULL, false, false),
    KIND("rbac.authorization.k8s.io", "v1", "Role", "roles", "role", NULL, true, false),
    KIND("rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings", "rolebinding", NULL, true, false),
    KIND("storage.k8s.io", "v1", "StorageClass", "storageclasses", "storageclass", NAMES("sc"), false, false),
    KIND("storage.k8s.io", "v1", "VolumeAttachment", "volumeattachments", "volumeattachment", NULL, false,
         true),
    KIND("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", "endpointslice", NULL, true, false),
    KIND("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", "priorityclass", NAMES("pc"), false,
         false),
    KIND("admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration",
         "mutatingwebhookconfigurations", "mutatingwebhookconfiguration", NULL, false, false),
    KIND("admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration",
         "validatingwebhookconfigurations", "validatingwebhookconfiguration", NULL, false, false),
    KIND("certificates.k8s.io", "v1", "CertificateSigningRequest", "certificatesigningrequests",
         "certificatesigningrequest", NAMES("csr"), false, true),
};

void sim_inside_serve_more(struct sim_store *store)
{
    sim_store_lock(store);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct sim_kind *kind = &kinds[i];
        sim_store_serve(store, &kind, 1);
    }
    sim_store_unlock(store);
}

static char *lower(const char *text)
{
    char *copy = xstrdup(text);
    for (char *c = copy; *c; c++) *c = (char)tolower((unsigned char)*c);
    return copy;
}

void sim_inside_serve_kind(struct sim_store *store, const char *group, const char *version,
                           const char *plural, const char *name, bool namespaced)
{
    sim_store_lock(store);
    if (!sim_store_find(store, group, version, plural)) {
        struct sim_kind *kind = NEW(struct sim_kind);
        *kind = (struct sim_kind){.group = xstrdup(group),
                                  .version = xstrdup(version),
                                  .plural = xstrdup(plural),
                                  .kind = xstrdup(name),
                                  .singular = lower(name),
                                  .list_kind = xasprintf("%sList", name),
                                  .namespaced = namespaced,
                                  .has_status = true,
                                  .custom = true};
        sim_store_serve(store, &kind, 1);
    }
    sim_store_unlock(store);
}
