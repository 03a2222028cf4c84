-- The metatable of strings.
-- expect: attempt to index a nil value
local k8s = require "k8s"

k8s.after("200ms", function()
  getmetatable("").__index = function() return print end
end)
