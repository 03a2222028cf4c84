-- A filter that never decides.
-- expect: over the limit filter%-cpu
local k8s = require "k8s"

k8s.informer("configmaps"):add_event_handler {
  filter = function(object)
    while true do
      object = object
    end
  end,
  OnUpdate = print,
}
