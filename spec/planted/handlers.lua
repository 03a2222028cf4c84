-- Procedural: handlers, indexes and a lister, one after the other.
local k8s = require "k8s"

local pods = k8s.informer("pods", { prune = { "metadata.managedFields" } })
local nodes = k8s.informer("nodes", { selector = "pool in (web, api)" })
local restarts = {}

pods:add_index("node", "spec.nodeName")
pods:add_index("image", function(pod, emit)
  for _, container in ipairs(pod.spec.containers) do emit(container.image) end
end)

pods:add_event_handler {
  namespaces = { "!kube-*" },
  where = { ["status.phase"] = { "Running", "Pending" } },
  filter = function(pod) return pod:label "app" ~= nil end,
  changed = { "status.containerStatuses[*].restartCount" },
  OnAdd = function(pod)
    restarts[pod:key()] = 0
  end,
  OnUpdate = function(old, new)
    for i, status in ipairs(new.status.containerStatuses or {}) do
      local before = old:get("status.containerStatuses")
      if before and before[i] and status.restartCount > before[i].restartCount then
        restarts[new:key()] = (restarts[new:key()] or 0) + 1
        k8s.event(new, "Warning", "Restarted", "%s was restarted", status.name)
      end
    end
  end,
  OnDelete = function(last)
    restarts[last:key()] = nil
  end,
}

nodes:on_update(function(_, node)
  if node.spec.unschedulable then
    local lister = pods:lister()
    for _, pod in ipairs(lister:by_index("node", node:name())) do
      local team = pod:get "metadata.labels['example.com/team']"
      k8s.log.info("leaves its node", { pod = pod:key(), team = team })
    end
  end
  local memory = node.status.allocatable.memory
  if memory and k8s.quantity(memory) < k8s.quantity "1Gi" then
    print("small", node:name())
  end
end)
