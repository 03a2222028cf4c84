-- The generation before an attack that comes by a reload: it receives updates, and has a state to migrate.
local k8s = require "k8s"

k8s.state("kept", { version = 1, init = { n = 1 } })
k8s.informer("configmaps"):on_update(function()
  print "runs"
end)
