-- A write to an object of the cache.
-- expect: :copy%(%)
local k8s = require "k8s"

k8s.informer("configmaps"):on_update(function(_, object)
  object.metadata.name = "other"
end)
