-- Prints every handler call of one cache of several namespaces as a JSON line, for spec/support/replay.lua (B-6).
local k8s = require "k8s"

local kind = "pods of some"

local function show(call, obj, old)
  print(k8s.json.encode {
    kind = kind, call = call, key = obj:key(), uid = obj:uid(), version = obj:resource_version(),
    old = old and old:resource_version(),
  })
end

k8s.informer("pods", { namespaces = { "team-000", "team-003", "team-007", "team-011" } }):add_event_handler {
  OnAdd = function(obj) show("add", obj) end,
  OnUpdate = function(old, new) show("update", new, old) end,
  OnDelete = function(last) show("delete", last) end,
}
