-- Each call moves 300,000 values.
-- expect: over the limit handler%-cpu
local k8s = require "k8s"

k8s.after("200ms", function()
  local list = {}
  for i = 1, 300000 do
    list[i] = i
  end
  while true do
    table.insert(list, 1, 0)
  end
end)
