-- Long lists in order, without a function of the script.
-- expect: over the limit handler%-cpu
local k8s = require "k8s"

k8s.after("200ms", function()
  local list = {}
  while true do
    for i = 1, 200000 do
      list[i] = (i * 7919) % 200003
    end
    table.sort(list)
  end
end)
