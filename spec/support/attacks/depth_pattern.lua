-- A pattern of 10,000 parts.
-- expect: pattern too complex
local k8s = require "k8s"

k8s.after("200ms", function()
  local _ = ("x"):rep(1e4):find(("x?"):rep(1e4))
end)
