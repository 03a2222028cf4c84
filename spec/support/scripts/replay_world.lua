-- Prints every handler call of what controllers make as a JSON line, for spec/support/replay.lua.
local k8s = require "k8s"

local function show(kind, call, obj, old)
  print(k8s.json.encode {
    kind = kind, call = call, key = obj:key(), uid = obj:uid(), version = obj:resource_version(),
    old = old and old:resource_version(),
  })
end

local kinds = {
  "pods", "replicasets.apps", "deployments.apps", "jobs.batch", "endpointslices.discovery.k8s.io", "events",
}
for _, kind in ipairs(kinds) do
  k8s.informer(kind):add_event_handler {
    OnAdd = function(obj) show(kind, "add", obj) end,
    OnUpdate = function(old, new) show(kind, "update", new, old) end,
    OnDelete = function(last) show(kind, "delete", last) end,
  }
end

k8s.main(function() print "synced" end)
