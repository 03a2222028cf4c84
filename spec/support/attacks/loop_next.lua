-- A table that was large is asked for its first entry, again and again.
-- expect: over the limit handler%-cpu
local k8s = require "k8s"

k8s.after("200ms", function()
  local list = {}
  for i = 1, 500000 do
    list[i] = i
  end
  for i = 1, 500000 do
    list[i] = nil
  end
  while next(list) == nil do
    pcall(error)
  end
end)
