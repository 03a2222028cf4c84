-- The same, and the error of the inner one is caught.
-- expect: over the limit handler%-cpu
local k8s = require "k8s"

k8s.after("200ms", function()
  while true do
    pcall(coroutine.wrap(function()
      while true do
        pcall(error)
      end
    end))
  end
end)
