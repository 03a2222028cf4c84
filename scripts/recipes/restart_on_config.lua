-- Restarts a Deployment, StatefulSet or DaemonSet with the annotation `recipes/restart-on-config: "true"` when the data
-- of a ConfigMap or Secret that its pods use has changed: their hash is an annotation of the pods' template. The first
-- one is a restart, too.
--   kubelua run -f scripts/restart_on_config.lua
local k8s = require "k8s"

k8s.writes { "deployments:patch", "statefulsets:patch", "daemonsets:patch" }

local ON, HASH = "recipes/restart-on-config", "recipes/config-hash"
local configs = { configmap = k8s.informer "configmaps", secret = k8s.informer "secrets" }

-- "configmap:shop/app" of all that the pods use: in volumes, in variables and as their whole environment.
local POD = "spec.template.spec."
local FIELDS = {
  configmap = { POD .. "volumes[*].configMap.name", POD .. "volumes[*].projected.sources[*].configMap.name" },
  secret = { POD .. "volumes[*].secret.secretName", POD .. "volumes[*].projected.sources[*].secret.name" },
}
for kind, name in pairs { configmap = "configMap", secret = "secret" } do
  for _, containers in ipairs { POD .. "containers[*].", POD .. "initContainers[*]." } do
    table.insert(FIELDS[kind], containers .. "envFrom[*]." .. name .. "Ref.name")
    table.insert(FIELDS[kind], containers .. "env[*].valueFrom." .. name .. "KeyRef.name")
  end
end

local function uses(workload)
  local found, list, namespace = {}, {}, workload:namespace()
  for kind, paths in pairs(FIELDS) do
    for _, path in ipairs(paths) do
      for _, name in ipairs(workload:get(path) or {}) do found[kind .. ":" .. namespace .. "/" .. name] = true end
    end
  end
  for use in pairs(found) do list[#list + 1] = use end
  table.sort(list)
  return list
end

local function hash_of(workload)
  local parts = {}
  for _, use in ipairs(uses(workload)) do
    local kind, key = use:match "^(%a+):(.*)$"
    local config = configs[kind]:lister():get(key)
    local data = config and { config.data and config:copy().data, config.binaryData and config:copy().binaryData }
    parts[#parts + 1] = use .. "=" .. k8s.json.encode(data or k8s.null)
  end
  return k8s.sha256(table.concat(parts, "\n")):sub(1, 16)
end

local function reconcile(workload)
  if workload:annotation(ON) ~= "true" then return end
  local hash = hash_of(workload)
  local before = workload:get "spec.template.metadata.annotations['recipes/config-hash']"
  if before == hash then return end
  local template = { metadata = { annotations = { [HASH] = hash } } }
  local patched, err = k8s.patch(workload, { spec = { template = template } })
  if not patched then return nil, err end
  print(("%s %s"):format(workload:key(), before and "restarts: its configuration changed" or "is watched"))
end

for _, kind in ipairs { "deployments", "statefulsets", "daemonsets" } do
  local workloads = k8s.informer(kind)
  workloads:add_index("uses", function(workload, emit)
    for _, use in ipairs(uses(workload)) do emit(use) end
  end)
  local queue = k8s.queue { name = kind }
  workloads:add_event_handler { OnAdd = queue:enqueuer(), OnUpdate = queue:enqueuer() }
  for name, informer in pairs(configs) do
    local function changed(config)
      local users = workloads:lister():by_index("uses", name .. ":" .. config:key())
      for _, workload in ipairs(users) do queue:add(workload:key()) end
    end
    informer:add_event_handler { id = kind .. " of a " .. name, OnAdd = changed, OnDelete = changed,
      OnUpdate = function(_, new) changed(new) end }
  end
  queue:run(function(key)
    local workload = workloads:lister():get(key)
    if workload then return reconcile(workload) end
  end)
end
