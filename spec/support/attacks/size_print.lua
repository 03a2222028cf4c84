-- A line of 32 MB.
-- expect: print: over the limit value%-size
local k8s = require "k8s"

k8s.after("200ms", function()
  local text = ("x"):rep(8e6)
  print(text, text, text, text)
end)
