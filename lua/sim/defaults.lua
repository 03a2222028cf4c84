-- Values that a server computes from other fields, or allocates, beyond the defaults that are data of the schema
-- bundle: by the name of a type. Objects are changed in place.
local bit = require "bit"
local json = require "sim.json"
local texts = require "sim.texts"
local values = require "sim.values"

local at, text, int, each, set = json.at, json.text, json.int, json.each, json.set
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

-- Missing requests are the limits.
finish["core/v1.Container"] = function(container)
  local resources = at(container, "resources")
  local limits = at(resources, "limits")
  if json.type(limits) == "object" then
    local requests = submap(resources, "requests")
    for name, value in json.members(limits) do default(requests, name, value) end
  end
  default(container, "imagePullPolicy", pull_policy(text(container, "image")))
end

finish["core/v1.EphemeralContainer"] = finish["core/v1.Container"]

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

-- FNV-1a, of 32 bits.
local function hash_of_uid(object)
  local hash, uid = 2166136261, text(object, "metadata.uid")
  for i = 1, #uid do
    hash = bit.bxor(hash, uid:byte(i)) % 2 ^ 32
    hash = (hash * 403 + hash % 256 * 2 ^ 24) % 2 ^ 32
  end
  return hash
end

-- A port of every node for each port, derived from the uid and the port: an update that leaves them out gets the same
-- again.
local function default_node_ports(service, spec)
  local type = text(spec, "type")
  local allocates = type == "LoadBalancer" and at(spec, "allocateLoadBalancerNodePorts") ~= false
  if type ~= "NodePort" and not allocates then return end
  local hash = hash_of_uid(service)
  for _, port in each(at(spec, "ports")) do
    if int(port, "nodePort", 0) == 0 then
      local own = int(port, "port", 0) * 31 + (text(port, "protocol"):sub(1, 1) == "U" and 1 or 0)
      set(port, "nodePort", 30000 + (hash + own) % 2 ^ 32 % 2768)
    end
  end
end

-- An address of 10.0.0.0/16 that is derived from the uid: always the same, and rarely a duplicate.
local function default_address(service, spec)
  local hash = hash_of_uid(service)
  local host = 1 + bit.bxor(hash, bit.rshift(hash, 16)) % 2 ^ 32 % 65534
  if text(spec, "clusterIP") == "" then
    set(spec, "clusterIP", string.format("10.0.%d.%d", math.floor(host / 256), host % 256))
  end
  local ip = text(spec, "clusterIP")
  -- Without a selector its endpoints may be of either family.
  local both = ip == "None" and json.count(at(spec, "selector")) == 0
  default(spec, "clusterIPs", { ip })
  default(spec, "ipFamilies", both and { "IPv4", "IPv6" } or { ip:find(":", 1, true) and "IPv6" or "IPv4" })
  default(spec, "ipFamilyPolicy", both and "RequireDualStack" or "SingleStack")
end

finish["core/v1.ServicePort"] = function(port)
  local target = at(port, "targetPort")
  if target == 0 or target == "" then json.remove(port, "targetPort") end
  default(port, "targetPort", at(port, "port"))
end

finish["core/v1.Service"] = function(service)
  local spec = at(service, "spec")
  local affinity = text(spec, "sessionAffinity")
  if affinity == "None" then json.remove(spec, "sessionAffinityConfig") end
  if affinity ~= "ClientIP" then return end
  default(spec, "sessionAffinityConfig", json.object("clientIP", json.object("timeoutSeconds", 10800)))
end

admit["core/v1.Service"] = function(service)
  local spec = at(service, "spec")
  if json.type(spec) == "object" and text(spec, "type") ~= "ExternalName" then default_address(service, spec) end
  default_node_ports(service, spec)
end

-- --- jobs and controllers

-- They have the labels of their template unless they have some of their own.
local function default_labels(object)
  local labels, metadata = at(object, "spec.template.metadata.labels"), submap(object, "metadata")
  if json.count(labels) > 0 and json.count(at(metadata, "labels")) == 0 then
    set(metadata, "labels", json.copy(labels))
  end
  return labels
end

finish["batch/v1.Job"] = default_labels

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
    set(labels, prefix .. "controller-uid", uid)
    set(labels, prefix .. "job-name", text(job, "metadata.name"))
    if prefix ~= "" then
      set(submap(submap(spec, "selector"), "matchLabels"), prefix .. "controller-uid", uid)
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

-- --- other kinds

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

return { finish = by_type(finish), admit = by_type(admit), begin = by_type(begin) }
