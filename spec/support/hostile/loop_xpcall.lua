-- Ended by handler-cpu: an endless loop in a message handler.
local k8s = require "k8s"

local function attack()
  xpcall(function()
    error "first"
  end, function()
    while true do
    end
  end)
end

k8s.informer("configmaps", { namespace = "default" }):on_add(function(obj)
  if obj:name() == "go" then attack() end
end, { id = "attack" })
