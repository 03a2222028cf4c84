-- The workers of a queue never return.
-- expect: over the limit handler%-cpu
local k8s = require "k8s"

local queue = k8s.queue { name = "loop", workers = 4 }

queue:run(function(key)
  while true do
    key = key .. ""
  end
end)
k8s.after("200ms", function()
  for i = 1, 100 do
    queue:add("key" .. i)
  end
end)
