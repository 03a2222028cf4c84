-- Workloads that survive the loss of a node, and nodes that can be drained.
--   kubelua audit -f scripts/rules/availability.lua --from pods.json
local k8s = require "k8s"
local pods = require "_pods"
local shapes = require "_shapes"
local uses = require "_uses"
local values = require "_values"

local map, text = values.map, values.text

local KINDS = { "deployments.apps", "statefulsets.apps" }

local function replicas_of(obj)
  return shapes.number(shapes.spec(obj), "replicas", "spec") or 1
end

-- Replicas of an object other than the audited one. Wrong types are no error here: the audit of that object reports
-- them.
local function replicas_of_other(obj)
  local spec = map(obj.spec)
  local replicas = spec and spec.replicas
  return type(replicas) == "number" and replicas or 1
end

-- The workload that an autoscaler is for.
local function emit_target(obj, emit)
  local spec = map(obj.spec)
  local target = spec and map(spec.scaleTargetRef)
  if target and text(target.kind) and text(target.name) then
    emit(("%s/%s/%s"):format(values.namespace(obj), target.kind, target.name))
  end
end

-- Minimum number of pods of the workload's autoscaler; nil without an autoscaler.
local function least_of(obj, use)
  local scaler = use.scalers(("%s/%s/%s"):format(values.namespace(obj), obj.kind, obj:name()))[1]
  local spec = scaler and map(scaler.spec)
  local least = spec and spec.minReplicas
  return scaler and (type(least) == "number" and least or 1)
end

local SCALERS = { kind = "horizontalpodautoscalers.autoscaling", index = emit_target }

k8s.rule {
  id = "single-replica",
  title = "Workloads have more than one replica",
  severity = "low",
  category = "Availability",
  why = "While the only pod of a workload is moved, updated or restarted, the workload does not answer.",
  how = "Set spec.replicas to 2 or more, if the program can run more than once.",
  kinds = KINDS,
  uses = { scalers = SCALERS },
  check = function(obj, r, use)
    local replicas = replicas_of(obj)
    if replicas == 1 and (least_of(obj, use) or 1) <= 1 then
      r:fail("the workload has one replica", { path = "spec.replicas", value = obj.spec.replicas })
    end
  end,
}

k8s.rule {
  id = "no-disruption-budget",
  title = "Workloads with replicas have a disruption budget",
  severity = "low",
  category = "Availability",
  why = "A drain may evict all pods of a workload at once. Only a PodDisruptionBudget limits how many are evicted at "
    .. "a time.",
  how = "Create a PodDisruptionBudget with maxUnavailable: 1 that selects the pods.",
  kinds = KINDS,
  uses = { budgets = uses.by_namespace "poddisruptionbudgets.policy" },
  check = function(obj, r, use)
    if replicas_of(obj) < 2 then
      return
    end
    pods.check(obj)
    local labels = pods.labels(obj)
    for _, budget in ipairs(use.budgets(values.namespace(obj))) do
      local spec = map(budget.spec)
      if values.selects(values.label_selector(spec and spec.selector), labels) then
        return
      end
    end
    r:fail "no PodDisruptionBudget selects its pods"
  end,
}

-- Number of pods of the workloads that the budget selects.
local function count_selected(spec, namespace, use)
  local selector, count = values.label_selector(spec.selector), 0
  for _, find in ipairs { use.deployments, use.statefulsets } do
    for _, obj in ipairs(find(namespace)) do
      if values.selects(selector, pods.labels(obj)) then
        count = count + replicas_of_other(obj)
      end
    end
  end
  return count
end

-- A number, or a string such as "50%".
local function amount(spec, field)
  local value = spec[field]
  return type(value) == "number" and value or shapes.text(spec, field, "spec")
end

local function is_none(value)
  return value == 0 or text(value) ~= nil and value:find "^0+%%?$" ~= nil
end

k8s.rule {
  id = "budget-blocks-drains",
  title = "Disruption budgets allow a drain",
  severity = "medium",
  category = "Availability",
  why = "A budget that allows no disruption blocks every drain of a node that runs one of the pods: a cluster upgrade "
    .. "hangs until somebody deletes the pod by hand.",
  how = "Allow at least one disruption: set maxUnavailable to 1, or minAvailable below the number of replicas.",
  kinds = { "poddisruptionbudgets.policy" },
  uses = {
    deployments = uses.by_namespace "deployments.apps",
    statefulsets = uses.by_namespace "statefulsets.apps",
  },
  check = function(obj, r, use)
    local spec = shapes.spec(obj)
    local least = amount(spec, "minAvailable")
    if is_none(amount(spec, "maxUnavailable")) then
      r:fail("the budget allows no disruption", { path = "spec.maxUnavailable", value = spec.maxUnavailable })
    elseif least == "100%" then
      r:fail("the budget requires all pods to stay", { path = "spec.minAvailable", value = least })
    elseif type(least) == "number" and least > 0 then
      shapes.map(spec, "selector", "spec")
      local count = count_selected(spec, values.namespace(obj), use)
      if count > 0 and least >= count then
        r:fail(("the budget requires %d pods to stay, and the selected workloads have %d"):format(least, count), {
          path = "spec.minAvailable",
          value = least,
        })
      end
    end
  end,
}

k8s.rule {
  id = "no-spread",
  title = "Replicas are spread over nodes",
  severity = "low",
  category = "Availability",
  why = "The scheduler may put all replicas on one node. If that node fails, all replicas are gone.",
  how = "Add topologySpreadConstraints over kubernetes.io/hostname, or a podAntiAffinity.",
  kinds = KINDS,
  check = function(obj, r)
    pods.check(obj)
    local spec, prefix = pods.spec(obj)
    if replicas_of(obj) < 2 or shapes.list(spec, "topologySpreadConstraints", prefix)[1] ~= nil then
      return
    end
    local affinity = shapes.map(spec, "affinity", prefix)
    if not shapes.map(affinity, "podAntiAffinity", prefix .. ".affinity") then
      r:fail("all replicas may run on one node", { path = prefix .. ".topologySpreadConstraints" })
    end
  end,
}

local TARGETS = {
  Deployment = { "deployments", "^apps/" },
  StatefulSet = { "statefulsets", "^apps/" },
  ReplicaSet = { "replicasets", "^apps/" },
}

k8s.rule {
  id = "hpa-target-missing",
  title = "Targets of autoscalers exist",
  severity = "high",
  category = "Availability",
  why = "An autoscaler without its target does nothing: the intended workload keeps its number of pods under any load.",
  how = "Correct spec.scaleTargetRef, or delete the autoscaler.",
  kinds = { "horizontalpodautoscalers.autoscaling" },
  uses = {
    deployments = uses.by_key "deployments.apps",
    statefulsets = uses.by_key "statefulsets.apps",
    replicasets = uses.by_key "replicasets.apps",
  },
  check = function(obj, r, use)
    local target = shapes.map(shapes.spec(obj), "scaleTargetRef", "spec")
    local known = target and TARGETS[target.kind]
    local name, version = target and text(target.name), target and text(target.apiVersion)
    if not known or not name or version and not version:find(known[2]) then
      return
    end
    if not use[known[1]](values.namespace(obj) .. "/" .. name)[1] then
      r:fail(("the %s %s does not exist"):format(target.kind, name), {
        path = "spec.scaleTargetRef.name",
        value = name,
      })
    end
  end,
}
