-- A message handler that never returns.
-- expect: over the limit handler%-cpu
local k8s = require "k8s"

k8s.after("200ms", function()
  xpcall(error, function()
    while true do
      pcall(error)
    end
  end)
end)
