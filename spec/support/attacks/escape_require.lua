-- A module somewhere else.
-- expect: is not a module name
local k8s = require "k8s"

k8s.after("200ms", function()
  require "../../../etc/passwd"
end)
