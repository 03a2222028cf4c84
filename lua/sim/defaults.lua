-- Values that a server computes from other fields, or allocates, beyond the defaults that are data of the schema
-- bundle: by the name of a type. Objects are changed in place.
local json = require "sim.json"
local pod_defaults = require "sim.pod_defaults"
local service_places = require "sim.service_places"
local services = require "sim.services"
local texts = require "sim.texts"
local values = require "sim.values"

local at, text, each, set = json.at, json.text, json.each, json.set
local fill = pod_defaults.fill
local default, submap, append = values.default, values.submap, values.append

-- finish: with each object that is read, from the inside out; admit: with every write, and nobody owns it; begin: with
-- a create.
local finish, admit, begin = {}, {}, {}

-- --- pods and the templates of pods

-- Images without a tag, or with :latest, are pulled each time.
local function pull_policy(image)
  local base = image:match "([^/]*)$"
  if base:find("@", 1, true) then return "IfNotPresent" end
  local tag = base:match ":.*$"
  return (not tag or tag == ":latest") and "Always" or "IfNotPresent"
end

finish["core/v1.Container"] = function(container)
  default(container, "imagePullPolicy", pull_policy(text(container, "image")))
end

finish["core/v1.EphemeralContainer"] = finish["core/v1.Container"]

-- Sources of features that a server has off are dropped.
finish["core/v1.Volume"] = function(volume)
  for _, source in each(at(volume, "projected.sources")) do
    json.remove(source, "clusterTrustBundle")
    json.remove(source, "podCertificate")
  end
  local image = at(volume, "image")
  if json.type(image) == "object" then default(image, "pullPolicy", pull_policy(text(image, "reference"))) end
end

finish["core/v1.Pod"] = pod_defaults.finish
begin["core/v1.Pod"] = pod_defaults.begin

-- The old name of a field has what the new one has.
finish["core/v1.PodSpec"] = function(spec)
  local name, old = text(spec, "serviceAccountName"), text(spec, "serviceAccount")
  if name == "" then name = old end
  if name == "" then return end
  set(spec, "serviceAccountName", name)
  set(spec, "serviceAccount", name)
end

local function tolerates(tolerations, key)
  for _, item in each(tolerations) do
    local effect, own = text(item, "effect"), text(item, "key")
    if (own == "" or own == key) and (effect == "" or effect == "NoExecute") then return true end
  end
  return false
end

-- The tolerations of admission. Pods stay for five minutes on a node that is away.
admit["core/v1.Pod"] = function(pod)
  local spec = at(pod, "spec")
  if json.type(spec) ~= "object" then return end
  default(spec, "tolerations", {})
  default(spec, "priority", 0)
  default(spec, "preemptionPolicy", "PreemptLowerPriority")
  local tolerations = at(spec, "tolerations")
  for _, key in ipairs { "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable" } do
    if not tolerates(tolerations, key) then
      append(tolerations, json.object("key", key, "operator", "Exists", "effect", "NoExecute",
        "tolerationSeconds", 300))
    end
  end
end

-- --- services

finish["core/v1.ServicePort"] = function(port)
  local target = at(port, "targetPort")
  if target == 0 or target == "" then json.remove(port, "targetPort") end
  default(port, "targetPort", at(port, "port"))
end

finish["core/v1.Service"] = function(service)
  local spec = at(service, "spec")
  local affinity = text(spec, "sessionAffinity")
  services.default_policies(spec)
  if affinity == "None" then json.remove(spec, "sessionAffinityConfig") end
  if affinity ~= "ClientIP" then return end
  default(spec, "sessionAffinityConfig", json.object("clientIP", json.object("timeoutSeconds", 10800)))
end

admit["core/v1.Service"] = function(service)
  services.default_address(service)
  service_places.default_node_ports(service)
end

-- --- jobs and controllers

-- They have the labels of their template unless they have some of their own: the same map, so that what a job adds to
-- the one is in the other.
local function default_labels(object)
  local labels, metadata = at(object, "spec.template.metadata.labels"), submap(object, "metadata")
  if json.count(labels) > 0 and json.count(at(metadata, "labels")) == 0 then
    set(metadata, "labels", labels)
  end
  return labels
end

-- A job that has one of these fields takes other values where it has none than one without.
finish["batch/v1.Job"] = function(job)
  local spec = at(job, "spec")
  if json.type(spec) == "object" then
    if at(spec, "backoffLimitPerIndex") then default(spec, "backoffLimit", 2147483647) end
    if at(spec, "podFailurePolicy") then default(spec, "podReplacementPolicy", "Failed") end
  end
  default_labels(job)
end

finish["core/v1.ReplicationController"] = function(controller)
  local labels = default_labels(controller)
  if json.count(labels) > 0 then default(at(controller, "spec"), "selector", json.copy(labels)) end
end

-- A job selects its pods by its uid, unless it has a selector of its own.
begin["batch/v1.Job"] = function(job)
  local spec, uid = at(job, "spec"), text(job, "metadata.uid")
  local template = at(spec, "template")
  if json.type(template) ~= "object" or at(spec, "manualSelector") == true then return end
  local labels = submap(submap(template, "metadata"), "labels")
  for _, prefix in ipairs { "batch.kubernetes.io/", "" } do
    default(labels, prefix .. "controller-uid", uid)
    default(labels, prefix .. "job-name", text(job, "metadata.name"))
    if prefix ~= "" then
      default(submap(submap(spec, "selector"), "matchLabels"), prefix .. "controller-uid", uid)
    end
  end
  default_labels(job)
end

-- The old API counted templates.
local GENERATION = "deprecated.daemonset.template.generation"

finish["apps/v1.DaemonSet"] = function(set_)
  default(submap(submap(set_, "metadata"), "annotations"), GENERATION, "0")
end

begin["apps/v1.DaemonSet"] = function(set_)
  set(submap(submap(set_, "metadata"), "annotations"), GENERATION, "1")
end

finish["apps/v1.StatefulSet"] = function(set_)
  for _, template in each(at(set_, "spec.volumeClaimTemplates")) do
    set(template, "kind", "PersistentVolumeClaim")
    set(template, "apiVersion", "v1")
  end
end

-- --- other kinds

finish["core/v1.LimitRangeItem"] = function(item)
  if text(item, "type") ~= "Container" then return end
  fill(item, "default", at(item, "max"))
  fill(item, "defaultRequest", at(item, "default"))
  fill(item, "defaultRequest", at(item, "min"))
end

-- The old and the new way to name a source; a source in another namespace has the new one only.
admit["core/v1.PersistentVolumeClaim"] = function(claim)
  local spec = at(claim, "spec")
  local old, new = at(spec, "dataSource"), at(spec, "dataSourceRef")
  if old and not new then
    set(spec, "dataSourceRef", json.copy(old))
  elseif new and not old and text(new, "namespace") == "" then
    local source = json.copy(new)
    json.remove(source, "namespace")
    set(spec, "dataSource", source)
  end
end

finish["networking/v1.NetworkPolicySpec"] = function(spec)
  if json.count(at(spec, "egress")) > 0 then default(spec, "policyTypes", { "Ingress", "Egress" }) end
end

finish["rbac/v1.Subject"] = function(subject)
  local kind = text(subject, "kind")
  if (kind == "User" or kind == "Group") and text(subject, "apiGroup") == "" then
    set(subject, "apiGroup", "rbac.authorization.k8s.io")
  end
end

finish["core/v1.Node"] = function(node)
  local status, spec = at(node, "status"), at(node, "spec")
  local capacity, range = at(status, "capacity"), text(spec, "podCIDR")
  if capacity ~= nil then default(status, "allocatable", json.copy(capacity)) end
  local first = text(json.element(at(spec, "podCIDRs"), 0))
  if range ~= "" and range ~= first then set(spec, "podCIDRs", { range }) end
  if range == "" and first ~= "" then set(spec, "podCIDR", first) end
end

-- Admission: a node is not ready until its kubelet says so.
begin["core/v1.Node"] = function(node)
  local key, taints = "node.kubernetes.io/not-ready", values.sublist(submap(node, "spec"), "taints")
  if not texts.find(taints, "key", key) then append(taints, json.object("key", key, "effect", "NoSchedule")) end
end

-- stringData is only written, never read: it goes into data.
finish["core/v1.Secret"] = function(secret)
  local plain = at(secret, "stringData")
  if json.type(plain) ~= "object" then return end
  local data = submap(secret, "data")
  for name, value in json.members(plain) do set(data, name, json.base64(text(value))) end
  json.remove(secret, "stringData")
end

finish["core/v1.Namespace"] = function(namespace)
  local name = text(namespace, "metadata.name")
  if name == "" then return end -- it is generated later
  set(submap(submap(namespace, "metadata"), "labels"), "kubernetes.io/metadata.name", name)
end

begin["core/v1.Namespace"] = function(namespace)
  local finalizers = values.sublist(submap(namespace, "spec"), "finalizers")
  if not texts.find(finalizers, "", "kubernetes") then append(finalizers, "kubernetes") end
end

finish["apiextensions/v1.CustomResourceDefinition"] = function(crd)
  local names = at(crd, "spec.names")
  local kind = text(names, "kind")
  if kind == "" then return end
  default(names, "singular", kind:lower())
  default(names, "listKind", kind .. "List")
end

-- Calls what the type needs, if it needs something.
local function by_type(functions)
  return function(type, object)
    if functions[type] then functions[type](object) end
  end
end

-- Zeros of internal types in an object of which nothing was read, beyond those of the schema.
local unread = {}

unread["apps/v1.Deployment"] = function(object) default(submap(object, "spec"), "replicas", 0) end
unread["apps/v1.ReplicaSet"] = unread["apps/v1.Deployment"]
unread["apps/v1.StatefulSet"] = unread["apps/v1.Deployment"]

unread["core/v1.ReplicationController"] = unread["apps/v1.Deployment"]
unread["apps/v1.DaemonSet"] = finish["apps/v1.DaemonSet"]

return { finish = by_type(finish), admit = by_type(admit), begin = by_type(begin), unread = by_type(unread) }
