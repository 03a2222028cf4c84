-- Timers without end, a thousand in a call: ten thousand at once may be more than a call may compute.
-- expect: limit timers
local k8s = require "k8s"

local function more()
  k8s.after("1ms", more)
  for _ = 1, 1000 do
    k8s.every("10ms", function() end)
  end
end

k8s.after("200ms", more)
