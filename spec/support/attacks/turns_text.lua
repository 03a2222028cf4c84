-- k8s.main prints what takes 400 ms to become a text, which one function of C calls (E-3).
-- expect: over the limit piece%-cpu %(80ms%) in one piece of main
local k8s = require "k8s"

local slow = setmetatable({}, {
  __tostring = function()
    local till = os.clock() + 0.4
    while os.clock() < till do
    end
    return "slow"
  end,
})

k8s.main(function()
  k8s.sleep "300ms"
  while true do
    pcall(print, slow)
  end
end)
