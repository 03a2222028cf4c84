-- A command for `kubelua call`: the pods on a node, or on each node.
--   kubelua run -f scripts/pods_on.lua, then kubelua call pods-on node-1
local k8s = require "k8s"

local pods = k8s.informer("pods", { prune = { "metadata.managedFields" } })
pods:add_index("node", "spec.nodeName")

local function of_node(node)
  local rows = {}
  for _, pod in ipairs(pods:lister():by_index("node", node)) do
    rows[#rows + 1] = { namespace = pod:namespace(), name = pod:name(), phase = pod:get "status.phase" }
  end
  return rows
end

k8s.command("pods-on", function(node)
  if not node then
    local counts = {}
    for _, name in ipairs(pods:lister():index_values "node") do
      counts[name] = #of_node(name)
    end
    return counts
  end
  local rows = of_node(node)
  if #rows == 0 then return nil, { reason = "NotFound", message = "no pods on " .. node } end
  return rows
end, { help = "Pods on a node; without one how many each has." })
