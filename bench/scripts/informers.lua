-- Fifty informers more, each with a cache and a watch of its own, and nothing in them.
local k8s = require "k8s"

for i = 1, 50 do
  k8s.informer("pods", { selector = "bench=" .. i }):add_event_handler { OnAdd = function() end }
end

require("subject").start {}
