-- Handlers without end.
-- expect: limit handlers
local k8s = require "k8s"

local maps = k8s.informer "configmaps"

k8s.after("200ms", function()
  for _ = 1, 1e9 do
    maps:on_add(print)
  end
end)
