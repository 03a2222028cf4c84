-- Follows objects of a custom kind: CronTabs, the example of the Kubernetes documentation. The kind may be
-- installed later: if its name has the group, the engine waits for its CustomResourceDefinition.
--   kubelua run -f scripts/custom_resources.lua
local k8s = require "k8s"

local crontabs = k8s.informer "crontabs.stable.example.com"

local function schedule(crontab)
  return crontab:get "spec.cronSpec" or "(no schedule)"
end

crontabs:on_add(function(crontab)
  print(("%s %s: runs %s"):format(crontab.kind, crontab:key(), schedule(crontab)))
end)

crontabs:on_update(function(old, new)
  if schedule(old) ~= schedule(new) then
    print(("%s %s: ran %s, now runs %s"):format(new.kind, new:key(), schedule(old), schedule(new)))
  end
end)

crontabs:on_delete(function(last)
  print(("%s %s: gone"):format(last.kind, last:key()))
end)
