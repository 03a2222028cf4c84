-- Tables in tables, 100,000 deep.
-- expect: nested deeper than 100
local k8s = require "k8s"

k8s.after("200ms", function()
  local list = {}
  for _ = 1, 1e5 do
    list = { list }
  end
  local _ = k8s.json.encode(list)
end)
