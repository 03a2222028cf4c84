-- Ended by stack: a function that calls itself.
local k8s = require "k8s"

local function attack()
  local function f()
    return 1 + f()
  end
  f()
end

k8s.informer("configmaps", { namespace = "default" }):on_add(function(obj)
  if obj:name() == "go" then attack() end
end, { id = "attack" })
