-- Text that is compiled sees no more than the script.
-- expect: attempt to index global 'io'
local k8s = require "k8s"

k8s.after("200ms", function()
  local read = load("return io.open('/etc/passwd')", "=load", "t", _G)
  read()
end)
