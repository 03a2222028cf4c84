-- An order for table.sort that never tells.
-- expect: over the limit handler%-cpu
local k8s = require "k8s"

k8s.after("200ms", function()
  local list = {}
  for i = 1, 100 do
    list[i] = i
  end
  table.sort(list, function()
    while true do
      pcall(error)
    end
  end)
end)
