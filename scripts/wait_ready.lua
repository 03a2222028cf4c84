-- Waits until a pod is ready; exits with 1 if it is not ready within five minutes, or is deleted.
--   kubelua exec scripts/wait_ready.lua
local k8s = require "k8s"

k8s.reads { "pods:get", "pods:watch" }

local NAMESPACE, NAME = "default", "web"

local function is_ready(pod)
  return pod:get("status.conditions[?type=='Ready'].status")[1] == "True"
end

k8s.main(function()
  local pod = assert(k8s.get("pods", NAMESPACE .. "/" .. NAME))
  if is_ready(pod) then
    print(pod:key() .. " is ready")
    return 0
  end
  for ev in k8s.watch("pods", {
    namespace = NAMESPACE,
    field_selector = "metadata.name=" .. NAME,
    resource_version = pod:resource_version(), -- everything after what was just read
    timeout = "5m",
  }) do
    if ev.type == "ERROR" then error(ev.object.message) end
    print(ev.type:lower() .. " " .. ev.object:key())
    if ev.type == "DELETED" then return 1 end
    if is_ready(ev.object) then return 0 end
  end
  print "not ready within five minutes"
  return 1
end)
