-- Deprecated and removed versions of built-in kinds, as of Kubernetes 1.37: the minor Kubernetes version that
-- deprecates the version, the one that removes it, and the replacement. Only kinds that people write manifests of are
-- listed.
local versions = {}

local function add(version, kinds, deprecated, removed, instead)
  local known = versions[version] or {}
  for kind in kinds:gmatch "%S+" do
    known[kind] = { deprecated = deprecated, removed = removed, instead = instead }
  end
  versions[version] = known
end

add("extensions/v1beta1", "DaemonSet Deployment ReplicaSet", 8, 16, "apps/v1")
add("extensions/v1beta1", "NetworkPolicy", 9, 16, "networking.k8s.io/v1")
add("extensions/v1beta1", "Ingress", 14, 22, "networking.k8s.io/v1")
add("apps/v1beta1", "Deployment StatefulSet", 8, 16, "apps/v1")
add("apps/v1beta2", "DaemonSet Deployment ReplicaSet StatefulSet", 9, 16, "apps/v1")
add("admissionregistration.k8s.io/v1beta1", "MutatingWebhookConfiguration ValidatingWebhookConfiguration", 16, 22,
  "admissionregistration.k8s.io/v1")
add("admissionregistration.k8s.io/v1alpha1", "ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding", 29, 32,
  "admissionregistration.k8s.io/v1")
add("admissionregistration.k8s.io/v1beta1", "ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding", 31, 34,
  "admissionregistration.k8s.io/v1")
add("apiextensions.k8s.io/v1beta1", "CustomResourceDefinition", 16, 22, "apiextensions.k8s.io/v1")
add("apiregistration.k8s.io/v1beta1", "APIService", 19, 22, "apiregistration.k8s.io/v1")
add("autoscaling/v2beta1", "HorizontalPodAutoscaler", 22, 25, "autoscaling/v2")
add("autoscaling/v2beta2", "HorizontalPodAutoscaler", 23, 26, "autoscaling/v2")
add("batch/v1beta1", "CronJob", 21, 25, "batch/v1")
add("flowcontrol.apiserver.k8s.io/v1beta1", "FlowSchema PriorityLevelConfiguration", 23, 26,
  "flowcontrol.apiserver.k8s.io/v1")
add("flowcontrol.apiserver.k8s.io/v1beta2", "FlowSchema PriorityLevelConfiguration", 26, 29,
  "flowcontrol.apiserver.k8s.io/v1")
add("flowcontrol.apiserver.k8s.io/v1beta3", "FlowSchema PriorityLevelConfiguration", 29, 32,
  "flowcontrol.apiserver.k8s.io/v1")
add("networking.k8s.io/v1beta1", "Ingress IngressClass", 19, 22, "networking.k8s.io/v1")
add("node.k8s.io/v1beta1", "RuntimeClass", 22, 25, "node.k8s.io/v1")
add("policy/v1beta1", "PodDisruptionBudget", 21, 25, "policy/v1")
add("rbac.authorization.k8s.io/v1beta1", "ClusterRole ClusterRoleBinding Role RoleBinding", 17, 22,
  "rbac.authorization.k8s.io/v1")
add("scheduling.k8s.io/v1beta1", "PriorityClass", 14, 22, "scheduling.k8s.io/v1")
add("storage.k8s.io/v1beta1", "CSIDriver StorageClass", 19, 22, "storage.k8s.io/v1")

return versions
