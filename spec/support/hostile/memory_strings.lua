-- Ended by script-memory: strings that double.
local k8s = require "k8s"

k8s.limits { script_memory = "8Mi" }

local function attack()
  local s = "x"
  while true do
    s = s .. s
  end
end

k8s.informer("configmaps", { namespace = "default" }):on_add(function(obj)
  if obj:name() == "go" then attack() end
end, { id = "attack" })
