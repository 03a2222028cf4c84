-- The name of a namespace that ends before it begins, which would be that of all.
-- expect: namespace must not contain a NUL byte
local k8s = require "k8s"

k8s.reads { "configmaps:list" }
k8s.after("200ms", function()
  k8s.list("configmaps", { namespace = "\0team-a" })
end)
