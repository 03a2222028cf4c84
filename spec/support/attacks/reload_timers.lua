-- A change of a script makes timers without end while it loads.
-- by a reload
-- expect: Reload refused.*limit timers
local k8s = require "k8s"

for _ = 1, 1e9 do
  k8s.every("10ms", function() end)
end
