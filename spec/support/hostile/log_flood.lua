-- Ended by log-lines: a line of the log after the other.
local k8s = require "k8s"

local function flood()
  for i = 1, 1000 do
    k8s.log.info("flood", { i = i })
  end
end

k8s.informer("configmaps", { namespace = "default" }):on_add(function(obj)
  for _ = 1, 10 do
    if obj:name() == "go" then flood() end
    k8s.sleep(0)
  end
end, { id = "attack" })
