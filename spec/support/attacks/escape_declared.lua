-- A table of options that says one thing to whoever checks and another to whoever sends.
-- expect: "configmaps:apply\\?" is not declared with k8s.writes
local k8s = require "k8s"

k8s.writes { "configmaps/status:patch" }
k8s.after("200ms", function()
  local asked = 0
  local options = setmetatable({}, {
    __index = function(_, name)
      if name == "subresource" then
        asked = asked + 1
        return asked > 1 and "status" or nil
      end
    end,
  })
  local map = { kind = "configmaps", namespace = "default", name = "neighbour" }
  k8s.apply(map, { data = { duration = "0s" } }, options)
end)
