-- Timers without end.
-- expect: limit timers
local k8s = require "k8s"

k8s.after("200ms", function()
  for _ = 1, 1e9 do
    k8s.every("10ms", function() end)
  end
end)
