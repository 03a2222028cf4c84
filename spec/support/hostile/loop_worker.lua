-- Ended by handler-cpu: an endless loop in the worker of a queue.
local k8s = require "k8s"

local q = k8s.queue { name = "attack", max_retries = 0 }
q:run(function()
  while true do
    pcall(error)
  end
end)
k8s.informer("configmaps", { namespace = "default" }):on_add(q:enqueuer())
