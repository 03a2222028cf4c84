-- The whole cache is walked again and again.
-- expect: over the limit handler%-cpu
local k8s = require "k8s"

local pods = k8s.informer "pods"

k8s.after("500ms", function()
  while true do
    pods:lister():list_all()
    pods:query():where("status.phase", "=", "Nowhere"):count()
  end
end)
