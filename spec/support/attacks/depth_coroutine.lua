-- Coroutines in coroutines without end.
-- expect: stack overflow|over the limit handler%-cpu
local k8s = require "k8s"

k8s.after("200ms", function()
  local function down()
    return coroutine.wrap(down)()
  end
  down()
end)
