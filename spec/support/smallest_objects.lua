-- One object of each kind that a server accepts with few fields, so that the rest are its defaults:
-- { name, path, object, tidy(wanted, found) }.
local cjson = require "cjson"

local template = [["template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [
  {"name": "c", "image": "i", "ports": [{"containerPort": 80}], "env": [{"name": "N", "valueFrom": {"fieldRef":
    {"fieldPath": "metadata.name"}}}], "livenessProbe": {"httpGet": {"port": 80}}}],
  "volumes": [{"name": "v"}, {"name": "s", "secret": {"secretName": "s"}}]}}]]
local selector = [["selector": {"matchLabels": {"a": "b"}}]]

local function tidy_nothing() end

-- The simulator leaves out finalizers that only a controller would take away (docs/sim.md).
local function tidy_protected(wanted)
  assert(#wanted.metadata.finalizers == 1)
  wanted.metadata.finalizers = nil
end

local objects = {}

local function add(version, plural, kind, fields, namespaced, tidy)
  local metadata = { name = "smallest" }
  local object = cjson.decode("{" .. fields .. "}")
  object.apiVersion, object.kind, object.metadata = version, kind, object.metadata or metadata
  objects[#objects + 1] = {
    name = kind, object = object, tidy = tidy or tidy_nothing,
    path = (version:find "/" and "/apis/" or "/api/") .. version
      .. (namespaced and "/namespaces/default/" or "/") .. plural,
  }
end

add("v1", "configmaps", "ConfigMap", [["data": {"a": "b"}]], true)
add("v1", "secrets", "Secret", [["stringData": {"a": "b"}]], true)
add("v1", "serviceaccounts", "ServiceAccount", "", true)
add("v1", "endpoints", "Endpoints", [["subsets": [{"addresses": [{"ip": "1.2.3.4"}], "ports": [{"port": 80}]}]
]], true)
add("v1", "limitranges", "LimitRange", [["spec": {"limits": [{"type": "Container"}]}]], true)
add("v1", "resourcequotas", "ResourceQuota", [["spec": {"hard": {"pods": "5"}}]], true)
add("v1", "namespaces", "Namespace", "", false)
add("v1", "nodes", "Node", "", false)
add("v1", "persistentvolumes", "PersistentVolume", [["spec": {"capacity": {"storage": "1Gi"}, "accessModes":
  ["ReadWriteOnce"], "hostPath": {"path": "/tmp"}}]], false, function(wanted, found)
  tidy_protected(wanted)
  wanted.status.lastPhaseTransitionTime, found.status.lastPhaseTransitionTime = nil, nil
end)
add("v1", "persistentvolumeclaims", "PersistentVolumeClaim", [["spec": {"accessModes": ["ReadWriteOnce"],
  "resources": {"requests": {"storage": "1Gi"}}}]], true, tidy_protected)
add("v1", "pods", "Pod", [["spec": {"containers": [{"name": "c", "image": "i:1", "resources":
  {"limits": {"cpu": "1"}}}], "initContainers": [{"name": "d", "image": "i", "restartPolicy": "Always",
  "startupProbe": {"exec": {"command": ["x"]}}}]}]], true)
add("v1", "events", "Event", [["involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"},
  "reason": "R"]], true)
add("batch/v1", "jobs", "Job", [["spec": {"parallelism": 2, "template": {"spec": {"restartPolicy": "Never",
  "containers": [{"name": "c", "image": "i:1"}]}}}]], true, function(wanted, found)
  for _, object in ipairs { wanted, found } do
    local labels, match = object.spec.template.metadata.labels, object.spec.selector.matchLabels
    assert(labels["controller-uid"] == labels["batch.kubernetes.io/controller-uid"])
    assert(match["batch.kubernetes.io/controller-uid"] == labels["controller-uid"])
    for _, map in ipairs { object.metadata.labels, labels, match } do
      map["controller-uid"], map["batch.kubernetes.io/controller-uid"] = map["controller-uid"] and "uid", "uid"
    end
  end
end)
add("v1", "replicationcontrollers", "ReplicationController", [["spec": {"selector": {"a": "b"}, ]] .. template
  .. "}", true)
add("v1", "podtemplates", "PodTemplate", template, true)
add("v1", "services", "Service", [["spec": {"ports": [{"port": 80}]}]], true, function(wanted, found)
  for _, object in ipairs { wanted, found } do object.spec.clusterIP, object.spec.clusterIPs = nil, nil end
end)
add("apps/v1", "deployments", "Deployment", [["spec": {]] .. selector .. ", " .. template .. "}", true)
add("apps/v1", "replicasets", "ReplicaSet", [["spec": {]] .. selector .. ", " .. template .. "}", true)
add("apps/v1", "daemonsets", "DaemonSet", [["spec": {]] .. selector .. ", " .. template .. "}", true)
add("apps/v1", "statefulsets", "StatefulSet", [["spec": {"serviceName": "s", ]] .. selector .. ", " .. template
  .. "}", true)
add("apps/v1", "controllerrevisions", "ControllerRevision", [["revision": 1, "data": {"a": 1}]], true)
add("autoscaling/v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", [["spec": {"maxReplicas": 3,
  "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}}]], true)
add("batch/v1", "cronjobs", "CronJob", [["spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template":
  {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i:1"}]}}}}}]], true)
add("coordination.k8s.io/v1", "leases", "Lease", "", true)
add("discovery.k8s.io/v1", "endpointslices", "EndpointSlice", [["addressType": "IPv4", "endpoints":
  [{"addresses": ["1.2.3.4"]}], "ports": [{"port": 80}]
]], true)
add("networking.k8s.io/v1", "ingresses", "Ingress", [["spec": {"defaultBackend": {"service": {"name": "s", "port":
  {"number": 80}}}}]], true)
add("networking.k8s.io/v1", "ingressclasses", "IngressClass", [["spec": {"controller": "a.b/c"}]], false)
add("networking.k8s.io/v1", "networkpolicies", "NetworkPolicy", [["spec": {"podSelector": {}, "egress":
  [{"ports": [{"port": 80}]}]}]], true)
add("node.k8s.io/v1", "runtimeclasses", "RuntimeClass", [["handler": "h"]], false)
add("policy/v1", "poddisruptionbudgets", "PodDisruptionBudget", [["spec": {"minAvailable": 1, "selector": {}}]], true)
add("rbac.authorization.k8s.io/v1", "roles", "Role", [["rules": [{"apiGroups": [""], "resources": ["pods"], "verbs":
  ["get"]}]
]], true)
add("rbac.authorization.k8s.io/v1", "rolebindings", "RoleBinding", [["subjects": [{"kind": "User", "name": "u",
  "apiGroup": "rbac.authorization.k8s.io"}], "roleRef": {"kind": "Role", "name": "r"}]], true)
add("scheduling.k8s.io/v1", "priorityclasses", "PriorityClass", [["value": 5]], false)
add("storage.k8s.io/v1", "storageclasses", "StorageClass", [["provisioner": "p"]], false)
add("storage.k8s.io/v1", "csidrivers", "CSIDriver", [["spec": {}]], false)
add("storage.k8s.io/v1", "volumeattachments", "VolumeAttachment", [["spec": {"attacher": "a", "nodeName": "n", "source":
  {"persistentVolumeName": "p"}}]], false)
add("admissionregistration.k8s.io/v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration",
  [["webhooks": [{"name": "a.b.c", "sideEffects": "None", "admissionReviewVersions": ["v1"], "clientConfig":
  {"service": {"namespace": "n", "name": "s"}}, "rules": [{"apiGroups": ["x"], "apiVersions": ["*"], "operations":
  ["CREATE"], "resources": ["*"]}]}]
]], false)
add("flowcontrol.apiserver.k8s.io/v1", "prioritylevelconfigurations", "PriorityLevelConfiguration",
  [["spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Queue", "queuing": {}}}}]], false)

add("flowcontrol.apiserver.k8s.io/v1", "flowschemas", "FlowSchema", [["spec": {"priorityLevelConfiguration":
  {"name": "exempt"}}]], false)
add("storage.k8s.io/v1", "csinodes", "CSINode", [["spec": {"drivers": [{"name": "d", "nodeID": "n"}]}]], false)
add("storage.k8s.io/v1", "csistoragecapacities", "CSIStorageCapacity", [["storageClassName": "s"]], true)
add("storage.k8s.io/v1", "volumeattributesclasses", "VolumeAttributesClass",
  [["driverName": "d", "parameters": {"a": "b"}]], false, tidy_protected)
add("resource.k8s.io/v1", "deviceclasses", "DeviceClass", [["spec": {}]], false)
add("resource.k8s.io/v1", "resourceclaims", "ResourceClaim", [["spec": {"devices": {"requests": [{"name": "r",
  "exactly": {"deviceClassName": "c"}}]}}]], true)
add("resource.k8s.io/v1", "resourceclaimtemplates", "ResourceClaimTemplate", [["spec": {"spec": {"devices":
  {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}]}}}]], true)
add("resource.k8s.io/v1", "resourceslices", "ResourceSlice", [["spec": {"driver": "d.x", "allNodes": true, "pool":
  {"name": "p", "generation": 1, "resourceSliceCount": 1}, "devices": [{"name": "d"}]}]], false)
add("networking.k8s.io/v1", "servicecidrs", "ServiceCIDR", [["spec": {"cidrs": ["10.9.0.0/16"]}]], false)
add("admissionregistration.k8s.io/v1", "validatingadmissionpolicies", "ValidatingAdmissionPolicy", [["spec":
  {"matchConstraints": {"resourceRules": [{"apiGroups": ["x"], "apiVersions": ["*"], "operations": ["CREATE"],
  "resources": ["*"]}]}, "validations": [{"expression": "true"}]}]], false)
add("admissionregistration.k8s.io/v1", "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding",
  [["spec": {"policyName": "smallest", "validationActions": ["Deny"]}]], false)
add("rbac.authorization.k8s.io/v1", "clusterroles", "ClusterRole", [["rules": [{"nonResourceURLs": ["/x"], "verbs":
  ["get"]}]
]], false)
add("rbac.authorization.k8s.io/v1", "clusterrolebindings", "ClusterRoleBinding", [["roleRef": {"kind": "ClusterRole",
  "name": "r"}]], false)

return objects
