-- Ended by handler-cpu: Lua's stack is kept full, so that no hook has room.
local k8s = require "k8s"

local function attack()
  local function f()
    while true do
      pcall(f)
    end
  end
  f()
end

k8s.informer("configmaps", { namespace = "default" }):on_add(function(obj)
  if obj:name() == "go" then attack() end
end, { id = "attack" })
