-- Sets of a million bytes are looked through for each byte.
-- expect: over the limit handler%-cpu
local k8s = require "k8s"

k8s.after("200ms", function()
  local set = "[" .. ("b"):rep(1e6) .. "]"
  while true do
    local _ = ("a"):rep(1e6):find(set .. set .. set)
  end
end)
