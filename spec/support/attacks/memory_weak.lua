-- A weak table whose values keep its keys.
-- flags: --limit script-memory=2Mi
-- expect: over the limit script%-memory
local k8s = require "k8s"

k8s.after("200ms", function()
  local list = setmetatable({}, { __mode = "k" })
  while true do
    local key = {}
    list[key] = { key }
  end
end)
