-- The same, with the error caught.
-- expect: over the limit handler%-cpu
local k8s = require "k8s"

k8s.after("200ms", function()
  while true do
    pcall(string.match, ("a"):rep(1e6), "(.-)(.-)(.-)%1%2%3b")
  end
end)
