-- Tables without end.
-- flags: --limit script-memory=2Mi
-- expect: over the limit script%-memory
local k8s = require "k8s"

k8s.after("200ms", function()
  local list = {}
  while true do
    list[#list + 1] = { {}, {}, {} }
  end
end)
