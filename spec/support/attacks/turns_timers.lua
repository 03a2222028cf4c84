-- Many timers, each of which takes 10 ms (E-1).
-- expect: nothing
local k8s = require "k8s"

for _ = 1, 60 do
  k8s.every("1s", function()
    local till = os.clock() + 0.01
    while os.clock() < till do
    end
  end)
end
