-- An endless loop behind pcall, which would go on with the next round.
-- expect: over the limit handler%-cpu
local k8s = require "k8s"

k8s.after("200ms", function()
  while true do
    pcall(function()
      while true do
        pcall(error)
      end
    end)
  end
end)
