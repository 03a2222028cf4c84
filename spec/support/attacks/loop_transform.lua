-- A transform that never ends.
-- expect: over the limit filter%-cpu
local k8s = require "k8s"

k8s.informer("configmaps", {
  transform = function(object)
    while true do
      object.data = object.data
    end
  end,
})
