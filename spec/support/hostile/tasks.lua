-- Ended by tasks: calls that wait, ever more of them.
local k8s = require "k8s"

k8s.limits { tasks = 100 }

for _ = 1, 101 do
  k8s.after(0, function()
    k8s.sleep "1h"
  end)
end
