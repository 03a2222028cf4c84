-- Writes without end.
-- flags: --limit writes=50
-- expect: limit writes
local k8s = require "k8s"

k8s.writes { "configmaps:create" }
k8s.after("200ms", function()
  for i = 1, 1e9 do
    local ok, err = k8s.create {
      apiVersion = "v1", kind = "ConfigMap", metadata = { name = "flood" .. i, namespace = "default" },
    }
    if not ok then
      error(err)
    end
  end
end)
