-- The same by rawset.
-- expect: objects are read%-only; use :copy%(%)
local k8s = require "k8s"

k8s.informer("configmaps"):on_update(function(_, object)
  rawset(object.metadata, "name", "other")
end)
