-- Many filters of one event, each of which takes a millisecond (E-1).
-- expect: nothing
local k8s = require "k8s"

local maps = k8s.informer "configmaps"

for _ = 1, 200 do
  maps:add_event_handler {
    filter = function()
      local till = os.clock() + 0.001
      while os.clock() < till do
      end
      return false
    end,
    OnUpdate = print,
  }
end
