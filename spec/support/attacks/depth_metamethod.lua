-- A metamethod that calls itself.
-- expect: stack overflow
local k8s = require "k8s"

k8s.after("200ms", function()
  local trap = {}
  setmetatable(trap, {
    __add = function(x)
      return x + 1 + 1
    end,
  })
  local _ = trap + 1
end)
