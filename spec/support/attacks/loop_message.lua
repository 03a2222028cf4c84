-- An error whose message is asked from a function that never returns: nobody asks it.
-- expect: is trouble
local k8s = require "k8s"

k8s.after("200ms", function()
  error(setmetatable({ what = "is trouble" }, {
    __index = function()
      while true do
        pcall(error)
      end
    end,
  }))
end)
