-- Ended by handler-cpu: an endless loop in a comparison of table.sort.
local k8s = require "k8s"

local function attack()
  table.sort({ 3, 2, 1 }, function()
    while true do
    end
  end)
end

k8s.informer("configmaps", { namespace = "default" }):on_add(function(obj)
  if obj:name() == "go" then attack() end
end, { id = "attack" })
