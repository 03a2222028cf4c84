-- Ended by print-buffer: print without an end.
local k8s = require "k8s"

k8s.limits { print_buffer = "64Ki" }

k8s.informer("configmaps", { namespace = "default" }):on_add(function(obj)
  for _ = 1, 100 do
    if obj:name() ~= "go" then return end
    for i = 1, 100 do
      print(("flood %d "):format(i) .. ("x"):rep(1000))
    end
    k8s.sleep(0)
  end
end, { id = "attack" })
