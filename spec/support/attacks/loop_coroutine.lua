-- An endless loop in a coroutine and around it.
-- expect: over the limit handler%-cpu
local k8s = require "k8s"

k8s.after("200ms", function()
  while true do
    local co = coroutine.create(function()
      while true do
        coroutine.yield()
      end
    end)
    for _ = 1, 1e9 do
      coroutine.resume(co)
    end
  end
end)
