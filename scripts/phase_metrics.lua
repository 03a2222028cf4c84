-- Custom metrics: pods by namespace and phase, and the time until they run.
--   kubelua run -f scripts/phase_metrics.lua, then curl localhost:8080/metrics
local k8s = require "k8s"

local pods = k8s.metric.gauge("pods_in_phase", "Pods by phase.", { "namespace", "phase" })
local starts = k8s.metric.histogram("pod_start_seconds", "Time from a pod's first sight until it ran.", nil, {
  buckets = { 1, 5, 15, 60, 300 },
})
local seen = {}

local function labels(pod)
  return { namespace = pod:namespace(), phase = pod:get "status.phase" or "Unknown" }
end

k8s.informer("pods"):add_event_handler {
  OnAdd = function(pod)
    pods:inc(1, labels(pod))
    if pod:get "status.phase" == "Pending" then seen[pod:uid()] = k8s.now() end
  end,
  OnUpdate = function(old, new)
    pods:dec(1, labels(old))
    pods:inc(1, labels(new))
    local since = seen[new:uid()]
    if since and new:get "status.phase" == "Running" then
      starts:observe(k8s.now() - since)
      seen[new:uid()] = nil
    end
  end,
  OnDelete = function(last, ev)
    pods:dec(1, labels(ev.previous or last))
    seen[last:uid()] = nil
  end,
}
