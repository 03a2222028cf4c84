-- Look-ups along a long chain of __index.
-- expect: over the limit handler%-cpu
local k8s = require "k8s"

k8s.after("200ms", function()
  local chain = {}
  for _ = 1, 90 do
    chain = setmetatable({}, { __index = chain })
  end
  while true do
    local _ = chain.missing
  end
end)
