-- Closures without end, in a handler.
-- flags: --limit script-memory=2Mi
-- expect: over the limit script%-memory
local k8s = require "k8s"

k8s.informer("configmaps"):on_update(function(_, object)
  local kept = {}
  for i = 1, 1e9 do
    kept[i] = function() return object, i end
  end
end)
