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

-- Of an object that changes 100 times a second: 900 calls for each of its first ten changes.
local seen, near, far = 0, nil, nil
maps:on_update(function(_, object)
  local version = tonumber(object:resource_version())
  seen = seen + 1
  if seen == 1 then
    near, far = ("%d"):format(version + 70), ("%d"):format(version + 1000000)
  end
  for _ = 1, seen <= 10 and 900 or 0 do
    local wanted = seen <= 5 and far or near
    k8s.after("1ms", function()
      wait(wanted)
    end)
  end
end)
