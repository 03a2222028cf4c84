-- The migration of a state never ends.
-- by a reload
-- expect: Reload refused.*over the limit load%-cpu
local k8s = require "k8s"

k8s.state("kept", {
  version = 2,
  migrate = function()
    while true do
      pcall(error)
    end
  end,
})
