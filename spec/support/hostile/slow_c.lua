-- Ended by handler-cpu: few instructions, each of which takes C long.
local k8s = require "k8s"

local function attack()
  local t = {}
  for i = 1, 30000 do
    t[i] = i
  end
  for i = 1, 9000 do
    table.insert(t, 1, i)
  end
end

k8s.informer("configmaps", { namespace = "default" }):on_add(function(obj)
  if obj:name() == "go" then attack() end
end, { id = "attack" })
