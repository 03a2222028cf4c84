-- Ended by timers: a timer after the other.
local k8s = require "k8s"

local function attack()
  for _ = 1, math.huge do
    k8s.after("1h", print)
  end
end

k8s.informer("configmaps", { namespace = "default" }):on_add(function(obj)
  if obj:name() == "go" then attack() end
end, { id = "attack" })
