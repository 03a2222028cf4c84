-- The handler of the guard's last phase: it reads three fields of each update.
local k8s = require "k8s"

local seen = 0

k8s.informer("pods"):add_event_handler {
  OnUpdate = function(_, new)
    local meta, spec = new.metadata, new.spec
    if meta.namespace and meta.name and spec.nodeName then seen = seen + 1 end
  end,
}
