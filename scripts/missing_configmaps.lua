-- Prints ConfigMaps that pods mount and that do not exist. The keys of pods go through a work queue: four workers query
-- the server, failed keys are retried with growing delays, and missing ConfigMaps are checked again after a minute.
--   kubelua run -f scripts/missing_configmaps.lua
local k8s = require "k8s"

k8s.reads { "configmaps:get" }

local pods = k8s.informer("pods", { fields = { "spec.volumes" } })
local lister = pods:lister()
local queue = k8s.queue { name = "missing-configmaps", workers = 4, max_retries = 15 }

pods:on_add(queue:enqueuer())
pods:on_update(queue:enqueuer(), { changed = { "spec.volumes" } })

queue:run(function(key, job)
  local pod = lister:get(key)
  if not pod then
    return -- gone meanwhile
  end
  for _, volume in ipairs(pod.spec.volumes or {}) do
    if volume.configMap and not volume.configMap.optional then
      local name = pod:namespace() .. "/" .. volume.configMap.name
      local found, err = k8s.get("configmaps", name)
      if not found and err.code ~= 404 then
        return nil, err
      end
      if not found then
        print(key .. " mounts configmap " .. name .. ", which does not exist")
        job:after "1m"
      end
    end
  end
end)
