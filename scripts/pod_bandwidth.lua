-- Sets the bandwidth annotations of pods by their label `bandwidth`. A controller in the style of client-go: one of
-- several processes leads, its handlers compare resource versions and queue keys, workers read the pods from the
-- cache and patch them.
--   kubelua run -f scripts/pod_bandwidth.lua
local k8s = require "k8s"

local RATES = { gold = "1G", silver = "100M", bronze = "10M" }
local ANNOTATIONS = { "kubernetes.io/ingress-bandwidth", "kubernetes.io/egress-bandwidth" }

k8s.writes { "pods:patch" }
k8s.leader { lease = "pod-bandwidth" }

local pods = k8s.informer("pods", { selector = "bandwidth in (gold, silver, bronze)" })
local lister = pods:lister()
-- Its workers work while this process leads; what they send is stopped at the last moment when it leads no more.
local queue = k8s.queue { name = "bandwidth", workers = 4, qps = 10, burst = 100, leader = true }

-- The leader alone is told, of all pods there are when it begins to lead and then of what comes.
pods:add_event_handler {
  leader = true,
  OnAdd = queue:enqueuer(),
  OnUpdate = function(old, new)
    if old:resource_version() ~= new:resource_version() then
      queue:add(new:key())
    end
  end,
}

local function missing(pod)
  local rate, annotations = RATES[pod:label "bandwidth"], {}
  for _, name in ipairs(ANNOTATIONS) do
    if pod:annotation(name) ~= rate then
      annotations[name] = rate
    end
  end
  return next(annotations) and annotations
end

queue:run(function(key, job)
  local pod = lister:get(key)
  local annotations = pod and missing(pod)
  if not pod or not annotations then
    return -- the pod is gone, or as it should be
  end
  -- With `lock` a change that the cache has not seen yet is a conflict, and the key comes again.
  local patched, err = k8s.patch(pod, { metadata = { annotations = annotations } }, { lock = true })
  if patched then
    print(("%s gets %s"):format(key, pod:label "bandwidth"))
  elseif err.reason ~= "NotFound" then
    job:retry(err)
  end
end)
