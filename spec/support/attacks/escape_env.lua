-- The environment of a function.
-- expect: attempt to call global 'setfenv'
local k8s = require "k8s"

k8s.after("200ms", function()
  setfenv(print, {})
end)
