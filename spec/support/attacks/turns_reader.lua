-- A change loads a chunk from a reader that takes 400 ms, and would take as long for each of 100 pieces (E-3).
-- by a reload
-- expect: over the limit piece%-cpu %(80ms%) in one piece of the load phase
local pieces = 0

load(function()
  local till = os.clock() + 0.4
  while os.clock() < till do
  end
  pieces = pieces + 1
  return pieces < 100 and " " or nil
end)
