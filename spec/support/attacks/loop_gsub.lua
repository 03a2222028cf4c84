-- A function that gsub calls and that never returns.
-- expect: over the limit handler%-cpu
local k8s = require "k8s"

k8s.after("200ms", function()
  while true do
    pcall(string.gsub, "x", "x", function()
      while true do
        pcall(error)
      end
    end)
  end
end)
