-- Copies chosen labels of a namespace to its pods, services, config maps and volume claims, and keeps them as the
-- namespace has them: for bills, policies and alerts by team.
--   kubelua run -f scripts/label_propagation.lua --param labels=team,cost-center
local k8s = require "k8s"

k8s.writes { "pods:patch", "services:patch", "configmaps:patch", "persistentvolumeclaims:patch" }

local settings = k8s.params {
  labels = { type = "list", default = { "team" }, help = "labels that are copied" },
}

local namespaces = k8s.informer "namespaces"

-- The labels that differ; nil if none does.
local function difference(object)
  local namespace, patch = namespaces:lister():get(object:namespace()), nil
  if not namespace then return nil end
  for _, label in ipairs(settings.labels) do
    local wanted = namespace:label(label)
    if wanted ~= object:label(label) then
      patch = patch or {}
      patch[label] = wanted or k8s.null
    end
  end
  return patch
end

for _, kind in ipairs { "pods", "services", "configmaps", "persistentvolumeclaims" } do
  local objects = k8s.informer(kind)
  local queue = k8s.queue { name = kind, workers = 4 }
  objects:add_event_handler { OnAdd = queue:enqueuer(), OnUpdate = queue:enqueuer() }
  namespaces:add_event_handler { id = "namespaces of " .. kind, OnUpdate = function(_, namespace)
    for _, object in ipairs(objects:lister():by_index("namespace", namespace:name())) do queue:add(object:key()) end
  end }
  queue:run(function(key)
    local object = objects:lister():get(key)
    if not object or object.metadata.deletionTimestamp then return end
    local labels = difference(object)
    if not labels then return end
    local patched, err = k8s.patch(object, { metadata = { labels = labels } })
    if not patched and err.reason ~= "NotFound" then return nil, err end
  end)
end
