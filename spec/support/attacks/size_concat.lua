-- Ten gigabytes by one call.
-- expect: table%.concat: over the limit value%-size
local k8s = require "k8s"

k8s.after("200ms", function()
  local text, list = ("x"):rep(1e6), {}
  for i = 1, 10000 do
    list[i] = text
  end
  local _ = table.concat(list)
end)
