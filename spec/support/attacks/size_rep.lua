-- A gigabyte by one call.
-- expect: string%.rep: over the limit value%-size
local k8s = require "k8s"

k8s.after("200ms", function()
  local _ = ("x"):rep(1e9)
end)
