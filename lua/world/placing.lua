-- Which nodes a pod may be on.
local quantity = require "world.quantity"
local selectors = require "world.selectors"

local placing = {}

-- Whether a toleration is for that taint.
local function tolerates(toleration, taint)
  if toleration.effect and toleration.effect ~= taint.effect then return false end
  if toleration.operator == "Exists" then return toleration.key == nil or toleration.key == taint.key end
  return toleration.key == taint.key and (toleration.value or "") == (taint.value or "")
end

-- The toleration by which the pod bears that taint, or nil.
function placing.toleration(pod, taint)
  for _, toleration in ipairs(pod.spec.tolerations or {}) do
    if tolerates(toleration, taint) then return toleration end
  end
end

-- The first taint with one of the effects that the pod does not tolerate.
function placing.repels(node, pod, effects)
  for _, taint in ipairs(node.spec and node.spec.taints or {}) do
    if effects[taint.effect] and not placing.toleration(pod, taint) then return taint end
  end
end

local function fits_term(node, term)
  return selectors.fits(node.metadata.labels, term.matchExpressions)
    and selectors.fits({ ["metadata.name"] = node.metadata.name }, term.matchFields)
end

-- Whether node selector and affinity of the pod have this node.
function placing.is_wanted(node, pod)
  if not selectors.has(node.metadata.labels, pod.spec.nodeSelector or {}) then return false end
  local affinity = (pod.spec.affinity or {}).nodeAffinity
  local required = (affinity or {}).requiredDuringSchedulingIgnoredDuringExecution
  if not required then return true end
  for _, term in ipairs(required.nodeSelectorTerms) do
    if fits_term(node, term) then return true end
  end
  return false
end

-- What the pods of a node leave of a resource; math.huge if it has no bound.
local function room(node, used, name)
  local all = ((node.status or {}).allocatable or {})[name]
  return all and quantity.of(all) - used or math.huge
end

-- Why the pod does not go on the node, as a scheduler says it, and whether it would go there if others went; nil if it
-- goes. `load` is what is on it.
function placing.objection(node, pod, load)
  local unschedulable = { key = "node.kubernetes.io/unschedulable", effect = "NoSchedule" }
  if node.spec and node.spec.unschedulable
    and placing.repels({ spec = { taints = { unschedulable } } }, pod, { NoSchedule = true }) then
    return "node(s) were unschedulable"
  end
  local taint = placing.repels(node, pod, { NoSchedule = true, NoExecute = true })
  if taint then
    return "node(s) had untolerated taint(s)"
  end
  if not placing.is_wanted(node, pod) then return "node(s) didn't match Pod's node affinity/selector" end
  if room(node, load.pods, "pods") < 1 then return "Too many pods", true end
  for _, name in ipairs { "cpu", "memory" } do
    local asked = quantity.asked(pod, name)
    if asked > 0 and asked > room(node, load[name], name) then
      return "Insufficient " .. name, asked <= room(node, 0, name)
    end
  end
end

return placing
