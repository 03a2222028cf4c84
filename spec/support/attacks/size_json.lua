-- A table that is in another, 60 deep, twice each: 2^60 in JSON.
-- flags: --limit value-size=128Ki
-- expect: k8s%.json%.encode: over the limit value%-size
local k8s = require "k8s"

k8s.after("200ms", function()
  local tree = {}
  for _ = 1, 60 do
    tree = { tree, tree }
  end
  local _ = k8s.json.encode(tree)
end)
