-- Coroutines without end.
-- flags: --limit script-memory=2Mi
-- expect: over the limit script%-memory
local k8s = require "k8s"

k8s.after("200ms", function()
  local list = {}
  while true do
    local co = coroutine.create(function(...) coroutine.yield(...) end)
    coroutine.resume(co, 1, 2, 3)
    list[#list + 1] = co
  end
end)
