-- Counts the pods of each node and adds up the requests of their containers.
--   kubelua exec scripts/count_by_node.lua
local k8s = require "k8s"

local pods = k8s.informer("pods"):lister()

local function add_requests(sum, pod)
  for _, cpu in ipairs(pod:get "spec.containers[*].resources.requests.cpu") do
    sum.cpu = sum.cpu + cpu -- exact: quantities take text such as "100m"
  end
  for _, memory in ipairs(pod:get "spec.containers[*].resources.requests.memory") do
    sum.memory = sum.memory + memory
  end
end

k8s.main(function()
  local nodes, names = {}, {}
  for pod in pods:list() do
    local name = pod.spec.nodeName or "(no node)"
    if not nodes[name] then
      nodes[name] = { pods = 0, cpu = k8s.quantity "0", memory = k8s.quantity "0Mi" }
      names[#names + 1] = name
    end
    nodes[name].pods = nodes[name].pods + 1
    add_requests(nodes[name], pod)
  end
  table.sort(names)
  print(("%-52s %6s %10s %10s"):format("NODE", "PODS", "CPU", "MEMORY"))
  for _, name in ipairs(names) do
    local node = nodes[name]
    print(("%-52s %6d %10s %10s"):format(name, node.pods, tostring(node.cpu), tostring(node.memory)))
  end
end)
