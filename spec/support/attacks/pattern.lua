-- A pattern that would match for years.
-- expect: over the limit handler%-cpu
local k8s = require "k8s"

k8s.after("200ms", function()
  local _ = ("a"):rep(1e6):find ".-.-.-.-.-.-b"
end)
