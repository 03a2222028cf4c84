-- A candidate that writes as fast as it can while it leads (spec/support/leaders.lua): who it is, into one config map.
local k8s = require "k8s"

k8s.leader { lease = "default/rules", duration = "3s", renew = "2s", retry = "500ms" }
k8s.writes { "configmaps:patch" }

local me = ("%.6f"):format(k8s.now())
local map = { kind = "configmaps", namespace = "default", name = "written" }
local count = 0

k8s.on_leader(function()
  print("start " .. me)
  while true do
    count = count + 1
    k8s.sleep "2ms"
    local written, err = k8s.patch(map, { data = { by = me, count = tostring(count) } })
    if written and count % 10 == 0 then print("wrote " .. count) end
    if not written then print("failed " .. err.reason) end
  end
end, function() print "stop" end)
k8s.main(function() print("ready " .. me) end)
