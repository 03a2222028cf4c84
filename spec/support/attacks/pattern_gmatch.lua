-- The same by gmatch, in a handler.
-- expect: over the limit handler%-cpu
local k8s = require "k8s"

k8s.informer("configmaps"):on_update(function(_, object)
  for _ in (object.metadata.name .. ("a"):rep(1e5)):gmatch "a*a*a*a*a*b" do
    print "never"
  end
end)
