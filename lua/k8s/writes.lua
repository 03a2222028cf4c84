-- k8s.writes { "pods:patch", "pods/status:patch" }: what the script may write. While it loads only.
local raw = ...

local options = require "k8s.options"

return function(declared)
  options.each_text("k8s.writes", declared, raw.write.declare)
end
