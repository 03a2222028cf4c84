-- The migration of a state takes all memory.
-- by a reload
-- flags: --limit script-memory=2Mi
-- expect: Reload refused.*over the limit script%-memory
local k8s = require "k8s"

k8s.state("kept", {
  version = 2,
  migrate = function(old)
    local list = {}
    while true do
      list[#list + 1] = { old.n, {}, {} }
    end
  end,
})
