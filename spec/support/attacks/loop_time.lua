-- An endless loop of calls into C.
-- expect: over the limit handler%-cpu
local k8s = require "k8s"

k8s.after("200ms", function()
  while true do
    k8s.now()
    os.time()
    os.date()
  end
end)
