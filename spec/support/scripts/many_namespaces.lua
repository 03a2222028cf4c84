-- The rights that it needs fill many blocks of stdio.
local k8s = require "k8s"
local names = {}
for i = 1, 100 do names[i] = "team-" .. i end
k8s.informer("pods", { namespaces = names }):on_add(function() end)
