-- Pods: their states, and pods of a template.
local times = require "world.times"
local values = require "world.values"

local pods = {}

function pods.condition(object, type)
  for _, condition in ipairs(object.status and object.status.conditions or {}) do
    if condition.type == type then return condition end
  end
end

function pods.phase(pod) return pod.status and pod.status.phase or "Pending" end

function pods.is_over(pod) return pods.phase(pod) == "Succeeded" or pods.phase(pod) == "Failed" end

function pods.is_active(pod) return not pods.is_over(pod) and not pod.metadata.deletionTimestamp end

-- Whether a pod is deleted and still runs.
function pods.is_ending(pod) return not pods.is_over(pod) and pod.metadata.deletionTimestamp ~= nil end

function pods.is_ready(pod)
  local condition = pods.condition(pod, "Ready")
  return condition ~= nil and condition.status == "True"
end

-- When a pod that is ready counts as available; nil for one that is not ready.
function pods.available_at(pod, min_ready_s)
  if not pods.is_ready(pod) then return nil end
  local since = times.of(pods.condition(pod, "Ready").lastTransitionTime) or 0
  return since + (min_ready_s or 0) * times.second
end

-- A pod of the template, without a name.
function pods.of_template(template, reference, more_labels)
  local metadata = template.metadata or {}
  return {
    metadata = {
      labels = values.merged(metadata.labels, more_labels), annotations = metadata.annotations,
      finalizers = metadata.finalizers, ownerReferences = { reference },
    },
    spec = values.copy(template.spec),
  }
end

-- The conditions with one set: its transition has a time of its own only if the status changes.
function pods.set_condition(conditions, new)
  local list, found = {}, false
  for _, old in ipairs(conditions or {}) do
    if old.type ~= new.type then
      list[#list + 1] = old
    else
      found = true
      local same = old.status == new.status
      new.lastTransitionTime = same and old.lastTransitionTime or times.text()
      if same and old.reason == new.reason and old.message == new.message then new = old end
      list[#list + 1] = new
    end
  end
  if not found then
    new.lastTransitionTime = times.text()
    list[#list + 1] = new
  end
  return list
end

return pods
