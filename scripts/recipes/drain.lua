-- Drains a node that gets the annotation `recipes/drain: "true"`: cordons it and evicts its pods, a few at a time, as
-- their PodDisruptionBudgets allow; then sets `recipes/drained`. Without the annotation the node is opened again.
--   kubelua run -f scripts/drain.lua       kubectl annotate node n1 recipes/drain=true
local k8s = require "k8s"

k8s.writes { "nodes:patch", "pods/eviction:create" }

local settings = k8s.params {
  at_once = { type = "integer", default = 5, min = 1, help = "pods that are evicted at a time" },
  grace = { type = "duration", min = 1, help = "grace period of the pods; without it their own" },
}

local DRAIN, DRAINED = "recipes/drain", "recipes/drained"

local nodes, pods = k8s.informer "nodes", k8s.informer "pods"
pods:add_index("node", "spec.nodeName")
local queue = k8s.queue { name = "nodes", workers = 4 }
nodes:add_event_handler { OnAdd = queue:enqueuer(), OnUpdate = queue:enqueuer() }
pods:on_delete(function(pod)
  if pod.spec.nodeName then queue:add(pod.spec.nodeName) end
end)

-- Those of daemon sets come back at once, and mirror pods are only pictures of what the kubelet runs.
local function must_go(pod)
  if pod.metadata.deletionTimestamp or pod:annotation "kubernetes.io/config.mirror" then return false end
  for _, owner in ipairs(pod.metadata.ownerReferences or {}) do
    if owner.kind == "DaemonSet" then return false end
  end
  return pod.status.phase ~= "Succeeded" and pod.status.phase ~= "Failed"
end

local function set(node, cordoned, drained)
  return k8s.patch(node, { spec = { unschedulable = cordoned },
    metadata = { annotations = { [DRAINED] = drained } } })
end

-- Evicts some; the number of pods that are left, those on their way included, and whether a budget refused one.
local function evict(node)
  local left, tried, refused = 0, 0, false
  for _, pod in ipairs(pods:lister():by_index("node", node:name())) do
    if pod.metadata.deletionTimestamp then left = left + 1 end
    if must_go(pod) then
      left = left + 1
      if tried < settings.at_once then
        tried = tried + 1
        local evicted, err = k8s.evict(pod, { grace_period = settings.grace })
        refused = refused or not evicted
        if not evicted and err.reason ~= "TooManyRequests" and err.reason ~= "NotFound" then return nil, err end
      end
    end
  end
  return left, refused
end

queue:run(function(name, job)
  local node = nodes:lister():get(name)
  if not node then return end
  if node:annotation(DRAIN) ~= "true" then
    if not node:annotation(DRAINED) then return end
    return set(node, false, k8s.null)
  end
  if node:annotation(DRAINED) then return end
  if not node:get "spec.unschedulable" then return set(node, true, nil) end
  local left, refused = evict(node)
  if not left then return nil, refused end
  if left > 0 then
    job:after(refused and 10 or 2)
    return
  end
  print(name .. " is drained")
  return set(node, true, k8s.time.format(k8s.now()))
end)
