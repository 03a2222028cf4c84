-- A text that takes the compiler minutes.
-- expect: over the limit handler%-cpu
local k8s = require "k8s"

k8s.after("200ms", function()
  while true do
    load("local a = b" .. (" or b"):rep(2e5))
  end
end)
