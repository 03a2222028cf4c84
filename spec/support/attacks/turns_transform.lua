-- Transforms of lists and updates, each of which takes a millisecond.
-- expect: nothing
local k8s = require "k8s"

local function slow(object)
  local till = os.clock() + 0.001
  while os.clock() < till do
  end
  return object
end

for _ = 1, 10 do
  k8s.informer("pods", {
    transform = function(object) return slow(object) end,
  })
end
k8s.informer("configmaps", { transform = slow })
