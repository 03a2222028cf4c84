-- Informers without end.
-- expect: limit informers
local k8s = require "k8s"

for i = 1, 1e9 do
  k8s.informer("configmaps", { selector = "x=" .. i })
end
