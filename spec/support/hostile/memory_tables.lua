-- Ended by script-memory: small tables without end.
local k8s = require "k8s"

k8s.limits { script_memory = "8Mi" }

local function attack()
  local t = {} -- luacheck: ignore 241
  while true do
    t[#t + 1] = {}
  end
end

k8s.informer("configmaps", { namespace = "default" }):on_add(function(obj)
  if obj:name() == "go" then attack() end
end, { id = "attack" })
