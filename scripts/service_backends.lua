-- Prints the number of running pods of each Service when it changes: a controller of Services that also watches pods.
--   kubelua run -f scripts/service_backends.lua
local k8s = require "k8s"

local services, pods = k8s.informer "services", k8s.informer "pods"
local told = {}

local function backends(service)
  local count = 0
  for pod in pods:lister():namespace(service:namespace()):list() do
    if pod.status.phase == "Running" and k8s.selects(service.spec.selector, pod) then
      count = count + 1
    end
  end
  return count
end

-- The services that a pod concerns, before or after a change of its labels.
local function services_of(pod)
  local keys = {}
  for service in services:lister():namespace(pod:namespace()):list() do
    if service.spec.selector and k8s.selects(service.spec.selector, pod) then
      keys[#keys + 1] = service:key()
    end
  end
  return keys
end

k8s.controller {
  of = services,
  watches = { [pods] = services_of },
  reconcile = function(key)
    local service = services:lister():get(key)
    local count = service and service.spec.selector and backends(service)
    if count ~= told[key] then
      print(key .. ": " .. (count and count .. " running" or "gone"))
    end
    told[key] = count
  end,
}
