-- Ended by script-memory: it catches every error.
local k8s = require "k8s"

k8s.limits { script_memory = "8Mi" }

local function attack()
  local t = {}
  while true do
    pcall(function()
      for _ = 1, 1e5 do
        t[#t + 1] = {}
      end
    end)
  end
end

k8s.informer("configmaps", { namespace = "default" }):on_add(function(obj)
  if obj:name() == "go" then attack() end
end, { id = "attack" })
