-- The migration of a state grows it beyond all bounds.
-- by a reload
-- flags: --limit script-memory=2Mi
-- expect: Reload refused.*over the limit
local k8s = require "k8s"

k8s.state("kept", {
  version = 2,
  migrate = function(old)
    for i = 1, 1e9 do
      old["n" .. i] = i
    end
    return old
  end,
})
