-- PodDisruptionBudgets: how many of their pods may go now.
local api = require "world.api"
local cache = require "world.cache"
local events = require "world.events"
local pods = require "world.pods"
local queue = require "world.queue"
local rolling = require "world.rolling"
local selectors = require "world.selectors"
local times = require "world.times"
local values = require "world.values"

local AGENT, ID = "kube-controller-manager", "poddisruptionbudgets.policy"
local FORGET = 120 * times.second -- a pod that was to go and did not

local controller = { name = ID }
local tell = events.recorder("controllermanager", ID)

-- As many pods as their controllers want; pods without one count for themselves.
local function expected_of(members)
  local sum, seen = 0, {}
  for _, pod in ipairs(members) do
    local ref = cache.controller_of(pod)
    local owner = ref and cache.find(ref.uid)
    local above = owner and cache.controller_of(owner.object)
    owner = above and cache.find(above.uid) or owner
    if not owner or not (owner.object.spec or {}).replicas then
      sum = sum + 1
    elseif not seen[owner.object.metadata.uid] then
      seen[owner.object.metadata.uid] = true
      sum = sum + owner.object.spec.replicas
    end
  end
  return sum
end

local function members_of(budget)
  return values.filter(cache.list("pods", budget.metadata.namespace), function(pod)
    return selectors.matches(pod.metadata.labels, budget.spec.selector) and not pods.is_over(pod)
  end)
end

-- Pods that were evicted and are still there, not for longer than they need.
local function still_disrupted(budget, key, members)
  local by_name, left = {}, {}
  for _, pod in ipairs(members) do by_name[pod.metadata.name] = pod end
  for name, since in values.sorted((budget.status or {}).disruptedPods) do
    local pod, due = by_name[name], (times.of(since) or 0) + FORGET
    if pod and not pod.metadata.deletionTimestamp and due > times.now() then
      left[name] = since
      queue.add_at(due, controller, key)
    end
  end
  return left
end

-- How many pods there should be, and how many of them healthy.
local function wanted_of(budget, members)
  local spec, expected = budget.spec, expected_of(members)
  if spec.maxUnavailable ~= nil then
    return expected, math.max(0, expected - rolling.amount(spec.maxUnavailable, expected, true))
  end
  if type(spec.minAvailable) == "number" then expected = #members end
  return expected, rolling.amount(spec.minAvailable or 1, expected, true)
end

function controller.sync(key)
  local budget = cache.get(ID, key)
  if not budget then return end
  local members = members_of(budget)
  if #members == 0 then tell(budget, "Normal", "NoPods", "No matching pods found") end
  local gone = still_disrupted(budget, key, members)
  local healthy = #values.filter(members, function(pod)
    return pods.is_ready(pod) and not pod.metadata.deletionTimestamp and not gone[pod.metadata.name]
  end)
  local expected, desired = wanted_of(budget, members)
  local allowed = expected > 0 and math.max(0, healthy - desired) or 0
  local enough = allowed > 0
  api.status(AGENT, ID, budget, {
    currentHealthy = healthy, desiredHealthy = desired, expectedPods = expected, disruptionsAllowed = allowed,
    observedGeneration = budget.metadata.generation, disruptedPods = next(gone) ~= nil and gone or nil,
    conditions = pods.set_condition((budget.status or {}).conditions, {
      type = "DisruptionAllowed", status = enough and "True" or "False", message = "",
      reason = enough and "SufficientPods" or "InsufficientPods", observedGeneration = budget.metadata.generation,
    }),
  })
end

local function add_for(pod)
  for _, budget in ipairs(pod and cache.list(ID, pod.metadata.namespace) or {}) do
    if selectors.matches(pod.metadata.labels, budget.spec.selector) then
      queue.add_soon(controller, cache.key_of(budget))
    end
  end
end

cache.on(ID, function(_, _, key) queue.add(controller, key) end)
cache.on("pods", function(new, old) add_for(new or old) end)

return { controller }
