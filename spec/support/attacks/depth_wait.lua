-- A wait is passed on through many coroutines just when the call reaches its limit.
-- expect: over the limit handler%-cpu
local k8s = require "k8s"

local function nest(levels, till)
  if levels > 0 then return (coroutine.wrap(nest)(levels - 1, till)) end
  while os.clock() < till do
  end
  k8s.sleep "1ms"
end

for _ = 1, 40 do
  k8s.every("10ms", function()
    nest(1000, os.clock() + (46 + math.random() * 14) / 1000) -- the limit is 50 ms
  end)
end
