-- Many handlers of one event, each of which takes long.
-- expect: nothing
local k8s = require "k8s"

local maps = k8s.informer "configmaps"

for _ = 1, 200 do
  maps:on_update(function()
    local till = os.clock() + 0.02
    while os.clock() < till do
    end
  end)
end
