-- Output without end.
-- expect: over the limit handler%-cpu
local k8s = require "k8s"

k8s.after("200ms", function()
  while true do
    print(("x"):rep(1000))
  end
end)
