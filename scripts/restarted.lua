-- Lists containers that restarted, most restarts first. The transform stores only these data of the pods.
--   kubelua exec scripts/restarted.lua
local k8s = require "k8s"

local function keep_restarts(pod)
  local restarts = {}
  for _, status in ipairs(pod.status and pod.status.containerStatuses or {}) do
    if status.restartCount > 0 then
      restarts[#restarts + 1] = { container = status.name, count = status.restartCount }
    end
  end
  if #restarts == 0 then
    return nil -- not wanted: it is never stored
  end
  return { metadata = pod.metadata, restarts = restarts }
end

local fields = { "metadata", "status.containerStatuses" }
local pods = k8s.informer("pods", { fields = fields, prune = { "metadata.managedFields" }, transform = keep_restarts })

k8s.main(function()
  local rows = {}
  for pod in pods:lister():list() do
    for _, restart in ipairs(pod.restarts) do
      rows[#rows + 1] = { pod:key(), restart.container, restart.count }
    end
  end
  table.sort(rows, function(a, b)
    return a[3] > b[3]
  end)
  for _, row in ipairs(rows) do
    print(("%6d  %s %s"):format(row[3], row[1], row[2]))
  end
end)
