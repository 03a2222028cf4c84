-- Ended by handler-cpu: an endless loop that catches every error.
local k8s = require "k8s"

local function attack()
  while true do
    pcall(function()
      while true do
      end
    end)
  end
end

k8s.informer("configmaps", { namespace = "default" }):on_add(function(obj)
  if obj:name() == "go" then attack() end
end, { id = "attack" })
