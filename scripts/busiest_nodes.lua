-- Lists the nodes with the most requested CPU, by a query that the engine evaluates in C.
--   kubelua exec scripts/busiest_nodes.lua
local k8s = require "k8s"

local pods = k8s.informer("pods")

local cpu = "spec.containers[*].resources.requests.cpu"

k8s.main(function()
  local running = pods:query():where("status.phase", "in", { "Running", "Pending" })
  running:where("spec.nodeName", "~=", k8s.null)
  print(("%-50s %5s  %s"):format("NODE", "PODS", "CPU"))
  for _, row in ipairs(running:group("spec.nodeName"):order("sum", "desc"):limit(10):sum(cpu)) do
    print(("%-50s %5d  %s"):format(row.key, row.count, tostring(row.sum)))
  end
end)
