-- HorizontalPodAutoscalers where nobody measures: their bounds hold, and they say what they lack.
local api = require "world.api"
local cache = require "world.cache"
local events = require "world.events"
local pods = require "world.pods"
local queue = require "world.queue"
local times = require "world.times"
local values = require "world.values"

local AGENT, ID = "kube-controller-manager", "horizontalpodautoscalers.autoscaling"
local PERIOD = 15 * times.second

local controller = { name = ID }
local tell = events.recorder("horizontal-pod-autoscaler", ID)

local targets = {
  Deployment = "deployments.apps", ReplicaSet = "replicasets.apps", StatefulSet = "statefulsets.apps",
  ReplicationController = "replicationcontrollers",
}

local function set_condition(status, type, is, reason, message)
  status.conditions = pods.set_condition(status.conditions, {
    type = type, status = is and "True" or "False", reason = reason, message = message,
  })
end

-- Why a metric has no value: the reason, the message, and the message of the error behind it.
local function problem_of(metric)
  local resource = metric.resource or metric.containerResource
  local reason = ("FailedGet%sMetric"):format(metric.type)
  if not resource then
    local text = metric.type == "External" and "external" or "custom"
    text = ("unable to fetch metrics from %s metrics API: no %s metrics API registered"):format(text, text)
    return reason, text, ("failed to get %s metric value: %s"):format(metric.type:lower(), text)
  end
  local what = resource.target.type == "Utilization" and "utilization" or "usage"
  local text = ("failed to get %s %s: unable to get metrics for resource %s: unable to fetch metrics from resource "
    .. "metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)"):format(
    resource.name, what, resource.name)
  local whose = metric.resource and "" or " container"
  return reason, text, ("failed to get %s%s resource metric value: %s"):format(resource.name, whose, text)
end

-- There is nobody to ask for metrics.
local function miss_metrics(scaler, status)
  local metrics = scaler.spec.metrics or {}
  status.currentMetrics = {}
  for i in ipairs(metrics) do status.currentMetrics[i] = { type = "" } end
  for _, metric in ipairs(metrics) do
    local reason, text = problem_of(metric)
    tell(scaler, "Warning", reason, text)
  end
  if not metrics[1] then return end
  local reason, text, whole = problem_of(metrics[1])
  set_condition(status, "ScalingActive", false, reason, "the HPA was unable to compute the replica count: " .. text)
  tell(scaler, "Warning", "FailedComputeMetricsReplicas",
    ("invalid metrics (%d invalid out of %d), first error is: %s"):format(#metrics, #metrics, whole))
end

local function rescale(scaler, id, target, status, replicas, bound)
  local reason = ("Current number of replicas %s"):format(bound)
  local ok, _, _, message = api.patch(AGENT, id, target, { spec = { replicas = replicas } }, "scale")
  if not ok then
    tell(scaler, "Warning", "FailedRescale", ("New size: %d; reason: %s; error: %s"):format(replicas, reason, message))
    set_condition(status, "AbleToScale", false, "FailedUpdateScale",
      "the HPA controller was unable to update the target scale: " .. message)
    return
  end
  set_condition(status, "AbleToScale", true, "SucceededRescale",
    ("the HPA controller was able to update the target scale to %d"):format(replicas))
  tell(scaler, "Normal", "SuccessfulRescale", ("New size: %d; reason: %s"):format(replicas, reason))
  status.desiredReplicas, status.lastScaleTime = replicas, times.text()
end

-- One look at the target's replicas.
local function look(scaler, id, target, status)
  local spec, now = scaler.spec, target.spec.replicas or 1
  local least = spec.minReplicas or 1
  status.currentReplicas, status.currentMetrics = now > 0 and now or nil, nil
  set_condition(status, "AbleToScale", true, "SucceededGetScale",
    "the HPA controller was able to get the target's current scale")
  if now == 0 then
    status.desiredReplicas = 0
    set_condition(status, "ScalingActive", false, "ScalingDisabled",
      "scaling is disabled since the replica count of the target is zero")
  elseif now > spec.maxReplicas then
    rescale(scaler, id, target, status, spec.maxReplicas, "above Spec.MaxReplicas")
  elseif now < least then
    rescale(scaler, id, target, status, least, "below Spec.MinReplicas")
  else
    miss_metrics(scaler, status)
  end
end

function controller.sync(key)
  local scaler = cache.get(ID, key)
  if not scaler or scaler.metadata.deletionTimestamp then return end
  queue.add_at(times.now() + PERIOD, controller, key)
  local ref, status = scaler.spec.scaleTargetRef, values.merged({ desiredReplicas = 0 }, scaler.status)
  local id = targets[ref.kind]
  if not id then return end -- a custom kind, of which only the server knows where its scale is
  local target = cache.get(id, scaler.metadata.namespace .. "/" .. ref.name)
  if target then
    look(scaler, id, target, status)
  else
    local text = ('%s "%s" not found'):format(id, ref.name)
    tell(scaler, "Warning", "FailedGetScale", text)
    set_condition(status, "AbleToScale", false, "FailedGetScale",
      "the HPA controller was unable to get the target's current scale: " .. text)
  end
  api.status(AGENT, ID, scaler, status)
end

cache.on(ID, function(new, old, key)
  if new and not (old and values.equal(new.spec, old.spec)) then queue.add(controller, key) end
end)

return { controller }
