-- Series of a metric without end.
-- expect: limit series
local k8s = require "k8s"

local counter = k8s.metric.counter("flood", "A counter.", { "i" })

k8s.after("200ms", function()
  for i = 1, 1e9 do
    counter:inc(1, { i = "v" .. i })
  end
end)
