-- Long texts, each another one.
-- flags: --limit script-memory=2Mi
-- expect: over the limit script%-memory
local k8s = require "k8s"

k8s.after("200ms", function()
  local list = {}
  for i = 1, 1e9 do
    list[i] = ("x"):rep(1e5) .. i
  end
end)
