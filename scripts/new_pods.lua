-- Prints the images of each new pod. Edit the string below while it runs: earlier pods are not printed again.
--   kubelua run -f scripts/new_pods.lua
local k8s = require "k8s"

-- A changed handler sees the whole cache again, as what it does with each object may have changed. Here it is news that
-- count: what changes goes on from now on.
k8s.on_reload { replay = "none" }

local told = k8s.state("told", { version = 1, init = { pods = 0 } })

local function images(pod)
  local names = {}
  for i, container in ipairs(pod:get "spec.containers" or {}) do
    names[i] = container.image
  end
  return table.concat(names, ", ")
end

k8s.informer("pods"):on_add(function(pod, ev)
  if not ev.initial then
    told.pods = told.pods + 1
    print(("new: %s runs %s (%d so far)"):format(pod:key(), images(pod), told.pods))
  end
end)
