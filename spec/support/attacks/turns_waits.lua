-- Thousands of calls that wait for one version and are woken together, behind others that wait for a later one.
-- expect: nothing
local k8s = require "k8s"

local maps = k8s.informer "configmaps"

local function wait(version)
  maps:wait_rv(version, "1m")
  local till = os.clock() + 0.0002
  while os.clock() < till do
  end
end

-- Of an object that changes 100 times a second.
local seen = 0
maps:on_update(function(_, object)
  seen = seen + 1
  if seen ~= 10 then
    return
  end
  local version = tonumber(object:resource_version())
  for i = 1, 9000 do
    local wanted = ("%d"):format(version + (i > 5000 and 60 or 1000000))
    k8s.after("1ms", function()
      wait(wanted)
    end)
  end
end)
