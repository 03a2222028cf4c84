-- A handler that never returns.
-- expect: over the limit handler%-cpu
local k8s = require "k8s"

k8s.informer("configmaps"):on_update(function(_, object)
  while true do
    object = object
  end
end)
