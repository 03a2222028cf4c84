-- The migration of a state takes 400 ms (E-3).
-- by a reload
-- expect: nothing
local k8s = require "k8s"

k8s.state("kept", {
  version = 2,
  migrate = function(old)
    local till = os.clock() + 0.4
    while os.clock() < till do
    end
    return old
  end,
})
