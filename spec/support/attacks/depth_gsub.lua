-- Calls through C without end.
-- expect: stack overflow
local k8s = require "k8s"

k8s.after("200ms", function()
  local function down()
    return (("x"):gsub(".", down))
  end
  down()
end)
