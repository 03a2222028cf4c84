-- A change of a script never ends to load.
-- by a reload
-- expect: Reload refused.*over the limit load%-cpu
local function spin()
  while true do
    pcall(error)
  end
end
while true do
  pcall(spin)
end
