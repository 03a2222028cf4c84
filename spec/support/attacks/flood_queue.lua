-- Keys without end.
-- flags: --limit queue-keys=1000
-- expect: limit queue%-keys
local k8s = require "k8s"

local queue = k8s.queue { name = "flood", qps = 0 }

k8s.after("200ms", function()
  for i = 1, 1e9 do
    queue:add("key" .. i)
  end
end)
