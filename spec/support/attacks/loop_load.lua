-- The script never ends to load.
-- expect: over the limit load%-cpu
while true do
  pcall(error)
end
