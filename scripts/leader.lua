-- Run it twice: one process, the leader, prints new pods; the other keeps its cache up to date and stands by.
--
--   kubelua run -f scripts/leader.lua --metrics-bind-address 0 --health-probe-bind-address 0 --admin-socket 0
--
-- End the leader with SIGTERM or kill -9: the other one takes over. Any number of processes may run.
local k8s = require "k8s"

k8s.leader { lease = "kubelua-example" }

k8s.on_leader(function()
  print "this process leads"
end, function()
  print "it leads no more"
end)

-- On the leader only. Each new leader is told of all pods there are, with ev.initial, and then of what comes.
k8s.informer("pods"):on_add(function(pod, ev)
  print((ev.initial and "there is " or "new: ") .. pod:key())
end, { leader = true })

k8s.every("30s", function()
  print "still leading"
end, { leader = true })
