-- Fields that a server sets in new pods, and with each pod that it reads.
-- Short calls of C functions, of which traces make nothing but aborts.
jit.off(true, true)

local app_armor = require "sim.app_armor"
local json = require "sim.json"
local pod_resources = require "sim.pod_resources"
local values = require "sim.values"

local at, text, each, get = json.at, json.text, json.each, json.get

local pod_defaults = {}

-- Sets what one map has and another one, a member of the owner, has not.
function pod_defaults.fill(owner, field, map)
  if json.type(map) ~= "object" or json.count(map) == 0 then return end
  for name, value in json.members(map) do values.default(values.submap(owner, field), name, value) end
end

-- Ports on the node's network are those of the node.
local function default_host_ports(container)
  for _, port in each(at(container, "ports")) do
    if (at(port, "hostPort") or 0) == 0 then json.set(port, "hostPort", at(port, "containerPort")) end
  end
end

-- Missing requests are the limits. Templates are left alone: their pods will have them.
function pod_defaults.finish(pod)
  local spec = at(pod, "spec")
  for _, field in ipairs { "initContainers", "containers" } do
    for _, container in each(at(spec, field)) do
      local resources = at(container, "resources")
      pod_defaults.fill(resources, "requests", at(resources, "limits"))
      if at(spec, "hostNetwork") == true then default_host_ports(container) end
    end
  end
  pod_resources.default(spec)
  if json.int(spec, "terminationGracePeriodSeconds", 0) < 0 then
    json.set(spec, "terminationGracePeriodSeconds", 1)
  end
end

-- Labels of the pod that its own selectors ask for.
local function select_own(pod, term, field, operator)
  local selector = at(term, "labelSelector")
  for _, key in each(selector and at(term, field) or nil) do
    local value = get(at(pod, "metadata.labels"), key)
    if value then
      values.append(values.sublist(selector, "matchExpressions"),
        json.object("key", key, "operator", operator, "values", { value }))
    end
  end
end

local function select_all(pod)
  for _, kind in ipairs { "podAffinity", "podAntiAffinity" } do
    for list, below in pairs { requiredDuringSchedulingIgnoredDuringExecution = "",
      preferredDuringSchedulingIgnoredDuringExecution = "podAffinityTerm" } do
      for _, one in each(at(pod, "spec.affinity." .. kind .. "." .. list)) do
        local term = at(one, below)
        select_own(pod, term, "matchLabelKeys", "In")
        select_own(pod, term, "mismatchLabelKeys", "NotIn")
      end
    end
  end
  for _, spread in each(at(pod, "spec.topologySpreadConstraints")) do
    select_own(pod, spread, "matchLabelKeys", "In")
  end
end

-- Pods that are gated are not scheduled.
function pod_defaults.begin(pod)
  json.set(values.submap(pod, "status"), "qosClass", pod_resources.class(at(pod, "spec")))
  select_all(pod)
  app_armor.sync(pod)
  if json.count(at(pod, "spec.schedulingGates")) == 0 then return end
  local conditions = values.sublist(values.submap(pod, "status"), "conditions")
  values.append(conditions, json.object("type", "PodScheduled", "status", "False",
    "lastProbeTime", json.null, "lastTransitionTime", text(pod, "metadata.creationTimestamp"),
    "reason", "SchedulingGated", "message", "Scheduling is blocked due to non-empty scheduling gates"))
end

return pod_defaults
