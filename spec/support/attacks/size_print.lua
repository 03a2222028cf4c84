-- A line of 4 MB.
-- flags: --limit value-size=1Mi
-- expect: print: over the limit value%-size
local k8s = require "k8s"

k8s.after("200ms", function()
  local text = ("x"):rep(1e6)
  print(text, text, text, text)
end)
