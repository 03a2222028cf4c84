-- What was refused is asked for again.
-- flags: --limit script-memory=2Mi
-- expect: over the limit script%-memory
local k8s = require "k8s"

k8s.after("200ms", function()
  local kept = {}
  while true do
    pcall(function()
      for i = #kept + 1, 1e9 do
        kept[i] = ("x"):rep(1e6) .. i
      end
    end)
  end
end)
