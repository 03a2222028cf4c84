-- Says hello to each pod: to those that are there when it begins, and to each that comes.
local k8s = require "k8s"

local pods = k8s.informer "pods"

pods:on_add(function(pod)
  print("hello " .. pod:key())
end)
