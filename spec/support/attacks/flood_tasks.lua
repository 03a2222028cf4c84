-- Calls that wait, without end.
-- flags: --limit tasks=100
-- expect: limit tasks
local k8s = require "k8s"

local function flood()
  for _ = 1, 200 do
    k8s.after("1ms", function() k8s.sleep(60) end)
  end
end
k8s.after("200ms", flood)
