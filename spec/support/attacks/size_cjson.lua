-- The same by cjson.
-- flags: --limit value-size=1Mi
-- expect: cjson%.encode: over the limit value%-size
local cjson = require "cjson"
local k8s = require "k8s"

k8s.after("200ms", function()
  local tree = {}
  for _ = 1, 60 do
    tree = { tree, tree }
  end
  local _ = cjson.encode(tree)
end)
