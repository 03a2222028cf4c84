-- Another number of replicas in the middle of a rollout: the ReplicaSets of a Deployment grow or shrink in proportion.
local rolling = require "world.rolling"
local values = require "world.values"

local scaling = {
  desired = "deployment.kubernetes.io/desired-replicas", max = "deployment.kubernetes.io/max-replicas",
}

local function note(set, name) return tonumber((set.metadata.annotations or {})[name]) end

local function active(sets) return values.filter(sets, function(set) return set.spec.replicas > 0 end) end

-- The annotations of a set that has its replicas from the deployment as it is.
function scaling.notes(deployment)
  local wanted = deployment.spec.replicas
  return { [scaling.desired] = tostring(wanted), [scaling.max] = tostring(wanted + rolling.surge(deployment)) }
end

-- Whether the deployment was scaled since its sets got their replicas.
function scaling.is_due(deployment, sets)
  for _, set in ipairs(active(sets)) do
    local desired = note(set, scaling.desired)
    if desired and desired ~= deployment.spec.replicas then return true end
  end
  return false
end

local function is_saturated(deployment, set)
  local wanted = deployment.spec.replicas
  return set and set.spec.replicas == wanted and note(set, scaling.desired) == wanted
    and (set.status or {}).availableReplicas == wanted
end

-- The share of one set in the change, rounded.
local function share(deployment, set, left, grows)
  local wanted, size = deployment.spec.replicas, set.spec.replicas
  if left == 0 then return 0 end
  local before = note(set, scaling.max) or (deployment.status or {}).replicas or 0
  local part = before == 0 and 0 or math.floor(size * (wanted + rolling.surge(deployment)) / before + 0.5) - size
  if wanted == 0 then part = -size end
  return grows and math.min(part, left) or math.max(part, left)
end

-- The largest first; of equal ones the newest when they grow, the oldest when they shrink.
local function in_order(sets, grows)
  table.sort(sets, function(a, b)
    if a.spec.replicas ~= b.spec.replicas then return a.spec.replicas > b.spec.replicas end
    local x, y = a.metadata, b.metadata
    if x.creationTimestamp == y.creationTimestamp then return x.name < y.name end
    return (x.creationTimestamp < y.creationTimestamp) ~= grows
  end)
end

local function proportional(deployment, sets, plan)
  local total, wanted = 0, deployment.spec.replicas
  for _, set in ipairs(sets) do total = total + set.spec.replicas end
  local change = (wanted > 0 and wanted + rolling.surge(deployment) or 0) - total
  local left = change
  in_order(sets, change > 0)
  for _, set in ipairs(sets) do
    local part = share(deployment, set, left, change > 0)
    plan[set] = set.spec.replicas + part
    left = left - part
  end
  if sets[1] then plan[sets[1]] = math.max(0, plan[sets[1]] + left) end
end

-- The replicas of each set that are to change: one set gets all, several get their shares. `new` may be nil.
function scaling.plan(deployment, new, old_sets)
  local all = { new }
  for i = #old_sets, 1, -1 do all[#all + 1] = old_sets[i] end
  local sets, plan = active(all), {}
  if #sets < 2 then
    local one = sets[1] or all[1]
    if one then plan[one] = deployment.spec.replicas end
  elseif is_saturated(deployment, new) then
    for _, set in ipairs(active(old_sets)) do plan[set] = 0 end
  elseif deployment.spec.strategy.type == "RollingUpdate" then
    proportional(deployment, sets, plan)
  end
  return plan
end

return scaling
