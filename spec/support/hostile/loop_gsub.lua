-- Ended by handler-cpu: an endless loop in a function that gsub calls.
local k8s = require "k8s"

local function attack()
  string.gsub("x", "x", function()
    while true do
    end
  end)
end

k8s.informer("configmaps", { namespace = "default" }):on_add(function(obj)
  if obj:name() == "go" then attack() end
end, { id = "attack" })
