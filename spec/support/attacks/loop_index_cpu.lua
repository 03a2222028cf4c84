-- An index function that computes for ever.
-- expect: over the limit filter%-cpu
local k8s = require "k8s"

k8s.informer("configmaps"):add_index("loop", function(object)
  while true do
    object = object
  end
end)
