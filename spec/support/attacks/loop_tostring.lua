-- An error whose text never comes.
-- expect: over the limit handler%-cpu
local k8s = require "k8s"

k8s.after("200ms", function()
  error(setmetatable({}, {
    __tostring = function()
      while true do
        pcall(error)
      end
    end,
  }))
end)
