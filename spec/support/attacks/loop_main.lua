-- k8s.main never ends.
-- flags: --limit main-cpu=300ms
-- expect: over the limit main%-cpu
local k8s = require "k8s"

k8s.main(function()
  k8s.sleep "300ms"
  while true do
    pcall(error)
  end
end)
