-- Ended by handler-cpu: the error is caught by the last call of all.
local k8s = require "k8s"

local function attack()
  return pcall(function()
    while true do
    end
  end)
end

k8s.informer("configmaps", { namespace = "default" }):on_add(function(obj)
  if obj:name() == "go" then attack() end
end, { id = "attack" })
