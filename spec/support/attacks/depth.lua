-- Calls without end.
-- expect: stack overflow
local k8s = require "k8s"

k8s.after("200ms", function()
  local function down(n)
    return down(n + 1) + 1
  end
  down(1)
end)
