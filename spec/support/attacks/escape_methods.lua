-- Methods of strings that are the script's own: the engine uses none.
-- expect: did you mean ."selector."
local k8s = require "k8s"

for name in pairs(string) do
  string[name] = function() error "mine" end
end
for name in pairs(table) do
  table[name] = nil
end
k8s.after("200ms", function()
  k8s.list("configmaps", { selectr = "x" })
end)
