-- Ended by writes: more of them at once than may wait.
local k8s = require "k8s"

k8s.limits { writes = 20 }
k8s.writes { "configmaps:patch" }

k8s.informer("configmaps", { namespace = "default" }):on_add(function(obj)
  if obj:name() ~= "go" then return end
  for i = 1, 100 do
    k8s.after(0, function() return k8s.patch(obj, { data = { i = tostring(i) } }) end)
  end
end, { id = "attack" })
