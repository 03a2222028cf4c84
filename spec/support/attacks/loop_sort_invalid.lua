-- An order for table.sort that is none.
-- expect: over the limit handler%-cpu
local k8s = require "k8s"

k8s.after("200ms", function()
  local list = {}
  for i = 1, 20000 do
    list[i] = math.random()
  end
  while true do
    pcall(table.sort, list, function() return math.random() < 0.5 end)
  end
end)
