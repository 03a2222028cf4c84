-- Timers that take longer than their period, and calls up to their limit.
-- expect: nothing
local k8s = require "k8s"

for _ = 1, 10 do
  k8s.every("10ms", function()
    local till = os.clock() + 0.04
    while os.clock() < till do
    end
  end)
end
