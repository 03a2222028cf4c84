-- A change takes 400 ms to load, its k8s.main as long again and again, in functions that libraries of Lua call (E-3).
-- by a reload
-- expect: nothing
local k8s = require "k8s"

local function burn()
  local till = os.clock() + 0.2
  while os.clock() < till do
  end
end

local function in_callbacks()
  local list = {}
  for i = 1, 50000 do
    list[i] = (i * 7919) % 50021
  end
  table.sort(list)
  table.sort({ 2, 1 }, function(a, b)
    burn()
    return a < b
  end)
  return (("x"):gsub(".", burn))
end

in_callbacks()
k8s.main(function()
  while true do
    in_callbacks()
    k8s.sleep "1ms"
  end
end)
