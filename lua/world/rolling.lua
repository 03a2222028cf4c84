-- Arithmetic of rollouts: how many replicas each ReplicaSet of a Deployment gets next.
local cache = require "world.cache"
local pods = require "world.pods"

local rolling = {}

-- A number, or a share of `total`.
function rolling.amount(value, total, up)
  if type(value) == "number" then return value end
  local share = tonumber(tostring(value or "0"):match "^(%d+)%%$") or 0
  return up and math.ceil(share * total / 100) or math.floor(share * total / 100)
end

local function limits(deployment)
  local update = deployment.spec.strategy.rollingUpdate
  if not update then return 0, 0 end
  local replicas = deployment.spec.replicas
  local surge, unavailable = rolling.amount(update.maxSurge, replicas, true),
    rolling.amount(update.maxUnavailable, replicas, false)
  if surge == 0 and unavailable == 0 then unavailable = 1 end
  return surge, math.min(unavailable, replicas)
end

function rolling.surge(deployment) return (limits(deployment)) end
function rolling.unavailable(deployment) return (select(2, limits(deployment))) end

local function asked(sets)
  local n = 0
  for _, set in ipairs(sets) do n = n + set.spec.replicas end
  return n
end

local function available(set) return (set.status or {}).availableReplicas or 0 end

-- Whether any pod of these sets is there, be it on its way out.
function rolling.runs(sets)
  for _, set in ipairs(sets) do
    if set.spec.replicas > 0 then return true end
    for _, pod in ipairs(cache.owned("pods", set.metadata.uid)) do
      if not pods.is_over(pod) then return true end
    end
  end
  return false
end

-- The replicas of a new set beside the old ones.
function rolling.first(deployment, old_sets)
  if deployment.spec.strategy.type == "Recreate" then return deployment.spec.replicas end
  local room = deployment.spec.replicas + rolling.surge(deployment) - asked(old_sets)
  return math.max(0, math.min(deployment.spec.replicas, room))
end

-- Old sets lose what can be spared: first pods that do not run anyway, then others, the oldest set first.
local function shrink(deployment, new, old_sets, plan)
  local spare = asked(old_sets) + new.spec.replicas - (deployment.spec.replicas - rolling.unavailable(deployment))
    - (new.spec.replicas - available(new))
  local sound = available(new)
  for _, set in ipairs(old_sets) do
    local sick = math.min(math.max(0, set.spec.replicas - available(set)), math.max(0, spare))
    plan[set] = set.spec.replicas - sick
    spare = spare - sick
    sound = sound + available(set)
  end
  spare = math.min(spare, sound - (deployment.spec.replicas - rolling.unavailable(deployment)))
  for _, set in ipairs(old_sets) do
    local less = math.min(plan[set], math.max(0, spare))
    plan[set] = plan[set] - less
    spare = spare - less
  end
end

-- Sets and their replicas: for set, replicas in rolling.step(...) do ... end
function rolling.step(deployment, new, old_sets)
  local plan, wanted = {}, deployment.spec.replicas
  if deployment.spec.strategy.type == "Recreate" then
    plan[new] = wanted
    for _, set in ipairs(old_sets) do plan[set] = 0 end
    if rolling.runs(old_sets) then plan[new] = new.spec.replicas end
  elseif new.spec.replicas > wanted then
    plan[new] = wanted
  elseif new.spec.replicas < wanted and rolling.first(deployment, old_sets) > new.spec.replicas then
    plan[new] = rolling.first(deployment, old_sets)
  else
    shrink(deployment, new, old_sets, plan)
  end
  local order, at = { new }, 0
  for _, set in ipairs(old_sets) do order[#order + 1] = set end
  return function()
    repeat at = at + 1 until not order[at] or plan[order[at]]
    return order[at], order[at] and plan[order[at]]
  end
end

return rolling
