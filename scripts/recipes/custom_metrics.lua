-- Metrics of any kind, for Prometheus: how many objects there are by the value of a field, and for each object whether
-- a condition holds. For custom resources that have no exporter of their own.
--   kubelua run -f scripts/custom_metrics.lua --param kind=certificates.cert-manager.io --param condition=Ready
local k8s = require "k8s"

local settings = k8s.params {
  kind = { type = "string", default = "deployments.apps", help = "the kind" },
  field = { type = "string", default = "metadata.namespace", help = "objects are counted by this field" },
  condition = { type = "string", default = "Available", help = "type of the condition that is shown" },
}

local LABELS = { "kind", "value" }
local count = k8s.metric.gauge("custom_resources", "Objects of a kind by the value of a field.", LABELS)
local holds = k8s.metric.gauge("custom_resource_condition", "1: the condition is True; 0: it is not.",
  { "kind", "namespace", "name", "condition" })

local objects = k8s.informer(settings.kind)
local counted = {} -- by value

local function value_of(object)
  local value = object:get(settings.field)
  return value == nil and "" or tostring(value)
end

local function add(value, n)
  counted[value] = (counted[value] or 0) + n
  local labels = { kind = settings.kind, value = value }
  if counted[value] > 0 then
    count:set(counted[value], labels)
  else
    count:remove(labels)
  end
end

local function labels_of(object)
  return { kind = settings.kind, namespace = object:namespace(), name = object:name(), condition = settings.condition }
end

local function show(object)
  local condition = object:condition(settings.condition)
  holds:set(condition and condition.status == "True" and 1 or 0, labels_of(object))
end

objects:add_event_handler {
  OnAdd = function(object)
    add(value_of(object), 1)
    show(object)
  end,
  OnUpdate = function(old, new)
    if value_of(old) ~= value_of(new) then
      add(value_of(old), -1)
      add(value_of(new), 1)
    end
    show(new)
  end,
  OnDelete = function(object)
    add(value_of(object), -1)
    holds:remove(labels_of(object))
  end,
}

-- What was counted belongs to this generation: the next one is told of all objects anew.
k8s.on_reload { replay = "all" }
