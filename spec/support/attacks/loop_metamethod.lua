-- A metamethod that never returns.
-- expect: over the limit handler%-cpu
local k8s = require "k8s"

k8s.after("200ms", function()
  local trap = setmetatable({}, {
    __index = function(self, key)
      while true do
        key = { key }
      end
    end,
  })
  while true do
    pcall(function() return trap.x end)
  end
end)
