-- Pods that their node repels: they go at once, or after as long as they bear the taint.
local api = require "world.api"
local cache = require "world.cache"
local events = require "world.events"
local placing = require "world.placing"
local queue = require "world.queue"
local times = require "world.times"
local values = require "world.values"

local AGENT, ID = "kube-controller-manager", "pods"

local controller = { name = "evictions" }
local planned = {} -- by a pod's key: since when it bears the taints for a time only

-- How long the pod stays on the node, in seconds: 0 if it must go, nil for ever.
local function stay_of(node, pod)
  if placing.repels(node, pod, { NoExecute = true }) then return 0 end
  local least
  for _, taint in ipairs(node.spec.taints) do
    local toleration = taint.effect == "NoExecute" and placing.toleration(pod, taint)
    local seconds = toleration and toleration.tolerationSeconds
    if seconds then least = math.min(least or seconds, math.max(seconds, 0)) end
  end
  return least
end

local function tell(pod, words)
  local about = { kind = "Pod", apiVersion = "v1", namespace = pod.metadata.namespace, name = pod.metadata.name }
  events.tell(AGENT, { component = "taint-eviction-controller" }, about, "Normal", "TaintManagerEviction",
    ("%s Pod %s"):format(words, cache.key_of(pod)))
end

local function cancel(key, pod)
  if planned[key] then tell(pod, "Cancelling deletion of") end
  planned[key] = nil
end

function controller.sync(key)
  local pod = cache.get(ID, key)
  local node = pod and pod.spec.nodeName and cache.get("nodes", pod.spec.nodeName)
  if not node or pod.metadata.deletionTimestamp then
    planned[key] = nil
    return
  end
  local seconds = node.spec and node.spec.taints and stay_of(node, pod)
  if not seconds then return cancel(key, pod) end
  if not planned[key] or planned[key].uid ~= pod.metadata.uid then
    planned[key] = { uid = pod.metadata.uid, since = times.now() }
  end
  local due = planned[key].since + seconds * times.second
  if due > times.now() then return queue.add_at(due, controller, key) end
  planned[key] = nil
  tell(pod, "Marking for deletion")
  api.delete(AGENT, ID, pod)
end

local function is_tainted(name)
  local node = name and cache.get("nodes", name)
  return node and node.spec and node.spec.taints ~= nil
end

cache.on(ID, function(new, old, key)
  local moved = not old or not new or new.spec.nodeName ~= old.spec.nodeName
    or not values.equal(new.spec.tolerations, old.spec.tolerations)
  if planned[key] or (moved and new and is_tainted(new.spec.nodeName)) then queue.add(controller, key) end
end)

cache.on("nodes", function(new, old, name)
  local before, now = old and old.spec and old.spec.taints, new and new.spec and new.spec.taints
  if values.equal(before, now) then return end
  for _, pod in ipairs(cache.list(ID)) do
    if pod.spec.nodeName == name then queue.add(controller, cache.key_of(pod)) end
  end
end)

return { controller }
