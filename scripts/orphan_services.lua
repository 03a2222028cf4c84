-- Prints Services whose selector selects no pod: a join of two caches at one moment.
--   kubelua exec scripts/orphan_services.lua
local k8s = require "k8s"

local pods = k8s.informer("pods")
local services = k8s.informer("services")

local function has_pod(lister, service)
  for pod in lister:namespace(service:namespace()):list() do
    if k8s.selects(service.spec.selector, pod) then return true end
  end
  return false
end

k8s.main(function()
  local snap = k8s.snapshot(pods, services)
  local lister = snap:lister(pods)
  for service in snap:query(services):where("spec.selector", "~=", k8s.null):order("metadata.name"):each() do
    if not has_pod(lister, service) then print("no pods for " .. service:key()) end
  end
end)
