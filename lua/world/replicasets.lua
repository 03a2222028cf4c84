-- ReplicaSets and ReplicationControllers: as many pods as they want.
local api = require "world.api"
local cache = require "world.cache"
local events = require "world.events"
local owned = require "world.owned"
local pod_control = require "world.pod_control"
local pods = require "world.pods"
local queue = require "world.queue"
local selectors = require "world.selectors"
local times = require "world.times"
local values = require "world.values"

local AGENT = "kube-controller-manager"
local RETRY = 10 * times.second

local function bool(value) return value and 1 or 0 end

local function cost_of(pod)
  return tonumber((pod.metadata.annotations or {})["controller.kubernetes.io/pod-deletion-cost"]) or 0
end

-- Which pod goes first: one without a node, one that waits, one that is not ready, one of a low cost, the newest.
local function goes_before(a, b)
  local ranks = {
    { bool(a.spec.nodeName), bool(b.spec.nodeName) },
    { bool(pods.phase(a) ~= "Pending"), bool(pods.phase(b) ~= "Pending") },
    { bool(pods.is_ready(a)), bool(pods.is_ready(b)) },
  }
  ranks[4] = { cost_of(a), cost_of(b) }
  for _, rank in ipairs(ranks) do
    if rank[1] ~= rank[2] then return rank[1] < rank[2] end
  end
  if a.metadata.creationTimestamp ~= b.metadata.creationTimestamp then
    return a.metadata.creationTimestamp > b.metadata.creationTimestamp
  end
  return a.metadata.name < b.metadata.name
end

local function create_pods(controller, key, set, count)
  local reference = owned.reference(controller.id, set)
  for _ = 1, count do
    local pod = pods.of_template(set.spec.template, reference)
    pod.metadata.generateName = set.metadata.name .. "-"
    local ok, message = pod_control.create(controller.tell, set, pod)
    if not ok then
      queue.add_at(times.now() + RETRY, controller, key)
      return message
    end
  end
end

local function delete_pods(controller, set, active, count)
  table.sort(active, goes_before)
  for i = 1, count do pod_control.delete(controller.tell, set, active[i]) end
end

-- Counts, of pods as they are known; `problem` is why pods could not be created, `ending` how many are on their way
-- out.
local function write_status(controller, key, set, active, problem, ending)
  local now, next_at = times.now(), nil
  local ready, available, labeled = 0, 0, 0
  local template_labels = (set.spec.template.metadata or {}).labels or {}
  for _, pod in ipairs(active) do
    local at = pods.available_at(pod, set.spec.minReadySeconds)
    ready = ready + bool(at)
    available = available + bool(at and at <= now)
    if at and at > now then next_at = math.min(next_at or at, at) end
    labeled = labeled + bool(selectors.has(pod.metadata.labels, template_labels))
  end
  if next_at then queue.add_at(next_at, controller, key) end
  local function some(n) return n > 0 and n or nil end
  local conditions = values.filter(set.status and set.status.conditions or {}, function(c)
    return c.type ~= "ReplicaFailure"
  end)
  if problem then
    conditions = pods.set_condition(set.status.conditions, {
      type = "ReplicaFailure", status = "True", reason = "FailedCreate", message = problem,
    })
  end
  api.status(AGENT, controller.id, set, {
    replicas = #active, fullyLabeledReplicas = some(labeled), readyReplicas = some(ready),
    availableReplicas = some(available), observedGeneration = set.metadata.generation,
    conditions = #conditions > 0 and conditions or nil, terminatingReplicas = ending,
  })
end

local function new_controller(id, component)
  local controller = { name = id, id = id, tell = events.recorder(component, id) }

  function controller.sync(key)
    local set = cache.get(id, key)
    if not set then return end
    local claimed = owned.claim(AGENT, id, set, "pods")
    local active, ends, problem = values.filter(claimed, pods.is_active), values.filter(claimed, pods.is_ending), nil
    local missing = (set.spec.replicas or 1) - #active
    if not set.metadata.deletionTimestamp then
      if missing > 0 then problem = create_pods(controller, key, set, missing) end
      if missing < 0 then delete_pods(controller, set, active, -missing) end
    end
    write_status(controller, key, set, active, problem, id == "replicasets.apps" and #ends or nil)
  end

  local function add(key) queue.add(controller, key) end
  cache.on(id, function(_, _, key) add(key) end)
  owned.watch("pods", id, function(key) queue.add_soon(controller, key) end)
  return controller
end

return {
  new_controller("replicasets.apps", "replicaset-controller"),
  new_controller("replicationcontrollers", "replication-controller"),
}
