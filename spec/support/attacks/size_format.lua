-- Many long texts in one format.
-- expect: string%.format: over the limit value%-size
local k8s = require "k8s"

k8s.after("200ms", function()
  local text, list = ("x"):rep(1e5), {}
  for i = 1, 200 do
    list[i] = text
  end
  local _ = ("%s"):rep(200):format(unpack(list))
end)
