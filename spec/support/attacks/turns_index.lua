-- Index functions that take a millisecond, of each object of a list and many of each update (E-1).
-- expect: nothing
local k8s = require "k8s"

local function slow()
  local till = os.clock() + 0.001
  while os.clock() < till do
  end
end

k8s.informer("pods"):add_index("slow", slow)

local maps = k8s.informer "configmaps"

for i = 1, 60 do
  maps:add_index("slow" .. i, slow)
end
