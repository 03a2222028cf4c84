-- The same by cjson.
-- expect: cjson%.encode: the text is longer than the limit
local cjson = require "cjson"
local k8s = require "k8s"

k8s.after("200ms", function()
  local tree = {}
  for _ = 1, 60 do
    tree = { tree, tree }
  end
  local _ = cjson.encode(tree)
end)
