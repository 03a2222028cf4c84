-- Comparison functions in comparison functions without end, again and again.
-- expect: stack overflow|over the limit handler%-cpu
local k8s = require "k8s"

k8s.every("20ms", function()
  local function down()
    table.sort({ 3, 2, 1 }, down)
  end
  down()
end)
