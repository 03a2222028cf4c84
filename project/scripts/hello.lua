-- Says hello to each pod: to existing pods at the start, then to each new one.
local k8s = require "k8s"

local pods = k8s.informer "pods"

pods:on_add(function(pod)
  print("hello " .. pod:key())
end)
