-- Each of many bytes is replaced by a long text.
-- expect: string%.gsub: over the limit value%-size|over the limit handler%-cpu
local k8s = require "k8s"

k8s.after("200ms", function()
  local text = ("x"):rep(1e5)
  local _ = text:gsub("x", text)
end)
