-- Ended by handler-cpu: an endless loop in __index.
local k8s = require "k8s"

local function attack()
  local t = setmetatable({}, {
    __index = function()
      while true do
      end
    end,
  })
  return t.field
end

k8s.informer("configmaps", { namespace = "default" }):on_add(function(obj)
  if obj:name() == "go" then attack() end
end, { id = "attack" })
