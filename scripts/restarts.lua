-- Prints when a container restarts, how often it has, and why the last one ended.
--   kubelua run -f scripts/restarts.lua
local k8s = require "k8s"

-- Restarts of each container by name.
local function restarts(pod)
  local counts = {}
  for _, status in ipairs(pod:get "status.containerStatuses" or {}) do
    counts[status.name] = status.restartCount
  end
  return counts
end

local function last_end(pod, container)
  for _, status in ipairs(pod:get "status.containerStatuses" or {}) do
    local ended = status.lastState and status.lastState.terminated
    if status.name == container and ended then
      return ("%s, exit code %s"):format(ended.reason or "?", ended.exitCode or "?")
    end
  end
  return "cause unknown"
end

k8s.informer("pods"):on_update(function(old, new)
  local before = restarts(old)
  for container, count in pairs(restarts(new)) do
    if count > (before[container] or 0) then
      local why = last_end(new, container)
      print(("%s: container %s restarted, %d times by now (%s)"):format(new:key(), container, count, why))
    end
  end
end)
