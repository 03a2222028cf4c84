-- A change of a script takes 400 ms to load, and its k8s.main as long again and again (E-3).
-- by a reload
-- expect: nothing
local k8s = require "k8s"

local function burn()
  local till = os.clock() + 0.4
  while os.clock() < till do
  end
end

burn()
k8s.main(function()
  while true do
    burn()
    k8s.sleep "1ms"
  end
end)
