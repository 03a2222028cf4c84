-- A text with 100,000 parentheses.
-- expect: too many syntax levels
local k8s = require "k8s"

k8s.after("200ms", function()
  assert(load("return " .. ("("):rep(1e5)))
end)
