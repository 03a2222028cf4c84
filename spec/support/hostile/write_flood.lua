-- Ended by writes: a write after the other.
local k8s = require "k8s"

k8s.limits { writes = 20 }
k8s.writes { "configmaps:patch" }

k8s.informer("configmaps", { namespace = "default" }):on_add(function(obj)
  for i = 1, 1000 do
    if obj:name() ~= "go" then return end
    local ok, err = k8s.patch(obj, { data = { i = tostring(i) } })
    if not ok then error(err) end
  end
end, { id = "attack" })
