-- A change of a script takes 400 ms to load, and its k8s.main as long again and again, all in coroutines of its own.
-- by a reload
-- expect: nothing
local k8s = require "k8s"

local function burn(levels)
  if levels > 0 then return (coroutine.wrap(burn)(levels - 1)) end
  local till = os.clock() + 0.4
  while os.clock() < till do
  end
end

burn(20)
k8s.main(function()
  while true do
    burn(20)
    k8s.sleep "1ms"
  end
end)
