-- A text twice as long each time.
-- flags: --limit script-memory=2Mi
-- expect: over the limit script%-memory
local k8s = require "k8s"

k8s.after("200ms", function()
  local text = "x"
  while true do
    text = text .. text
  end
end)
