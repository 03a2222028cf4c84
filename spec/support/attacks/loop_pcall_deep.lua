-- Each error of the innermost loop ends in one more loop.
-- expect: over the limit handler%-cpu
local k8s = require "k8s"

k8s.after("200ms", function()
  local function again()
    while true do
      pcall(pcall, again)
    end
  end
  again()
end)
