-- Writes without end, by as many calls as there may be.
-- flags: --limit writes=50
-- expect: limit writes
local k8s = require "k8s"

k8s.writes { "configmaps:create" }
k8s.after("200ms", function()
  for i = 1, 5000 do
    k8s.after(0, function()
      return k8s.create {
        apiVersion = "v1", kind = "ConfigMap", metadata = { name = "flood" .. i, namespace = "default" },
      }
    end)
  end
end)
