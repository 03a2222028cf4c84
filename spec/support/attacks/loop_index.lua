-- An index function that never ends.
-- expect: over the limit filter%-cpu
local k8s = require "k8s"

k8s.informer("configmaps"):add_index("loop", function(_, emit)
  while true do
    emit "x"
  end
end)
