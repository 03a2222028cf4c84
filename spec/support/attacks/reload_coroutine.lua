-- A change of a script never ends to load, in coroutines.
-- by a reload
-- expect: Reload refused.*over the limit load%-cpu
while true do
  coroutine.wrap(function()
    while true do
      pcall(coroutine.yield)
    end
  end)()
end
