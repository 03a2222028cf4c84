-- Series with long labels and many buckets (E-2).
-- expect: limit metric%-bytes
local k8s = require "k8s"

local names, labels, buckets = {}, {}, {}
for i = 1, 16 do
  names[i] = "l" .. i
  labels["l" .. i] = ("x"):rep(1024)
end
for i = 1, 50 do
  buckets[i] = i
end
local wide = k8s.metric.histogram("wide", "Wide.", names, { buckets = buckets })

k8s.after("200ms", function()
  for i = 1, 1000 do
    labels.l1 = tostring(i)
    wide:observe(1, labels)
  end
end)
