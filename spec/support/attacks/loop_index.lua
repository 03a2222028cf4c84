-- An index function that never ends.
-- expect: emit: more than 10000 values
local k8s = require "k8s"

k8s.informer("configmaps"):add_index("loop", function(_, emit)
  while true do
    emit "x"
  end
end)
