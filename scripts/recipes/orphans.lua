-- Reports, and with `--param delete=true` deletes, what nothing uses any more: ConfigMaps and Secrets that no pod,
-- service account or ingress names, volume claims that no pod mounts, and services without pods; each when it has been
-- so for `after`. What has an owner, or the annotation `recipes/keep`, stays.
--   kubelua run -f scripts/recipes/orphans.lua --param after=7d
local k8s = require "k8s"

k8s.writes { "configmaps:delete", "secrets:delete", "persistentvolumeclaims:delete", "services:delete" }

local settings = k8s.params {
  after = { type = "duration", default = "1d", min = 0, help = "how long nothing has used it" },
  delete = { default = false, help = "delete, not only report" },
  every = { type = "duration", default = "10m", min = 1, help = "how often it looks" },
}

local since = k8s.state("since", { init = {} })

local pods, ingresses = k8s.informer "pods", k8s.informer "ingresses.networking.k8s.io"
local accounts = k8s.informer "serviceaccounts"
local kinds = {
  configmaps = k8s.informer "configmaps", secrets = k8s.informer "secrets",
  persistentvolumeclaims = k8s.informer "persistentvolumeclaims", services = k8s.informer "services",
}
local NAMES = {
  configmaps = { "spec.volumes[*].configMap.name", "spec.containers[*].envFrom[*].configMapRef.name",
    "spec.containers[*].env[*].valueFrom.configMapKeyRef.name", "spec.volumes[*].projected.sources[*].configMap.name" },
  secrets = { "spec.volumes[*].secret.secretName", "spec.containers[*].envFrom[*].secretRef.name",
    "spec.containers[*].env[*].valueFrom.secretKeyRef.name", "spec.imagePullSecrets[*].name" },
  persistentvolumeclaims = { "spec.volumes[*].persistentVolumeClaim.claimName" },
}

local function note(used, object, kind, paths)
  for _, path in ipairs(paths) do
    for _, name in ipairs(object:get(path) or {}) do used[kind .. ":" .. object:namespace() .. "/" .. name] = true end
  end
end

local function all_used()
  local used = {}
  for pod in pods:lister():list() do
    for kind, paths in pairs(NAMES) do note(used, pod, kind, paths) end
  end
  for account in accounts:lister():list() do
    note(used, account, "secrets", { "secrets[*].name", "imagePullSecrets[*].name" })
  end
  for ingress in ingresses:lister():list() do note(used, ingress, "secrets", { "spec.tls[*].secretName" }) end
  return used
end

local function is_used(used, kind, object)
  if object.metadata.ownerReferences or object:annotation "recipes/keep" then return true end
  if object.type == "kubernetes.io/service-account-token" or object:name() == "kube-root-ca.crt" then return true end
  if kind ~= "services" then return used[kind .. ":" .. object:key()] end
  local labels = {}
  for label, value in pairs(object.spec.selector or {}) do labels[#labels + 1] = label .. "=" .. value end
  local selector = table.concat(labels, ",")
  return selector == "" or pods:lister():namespace(object:namespace()):list(selector)() ~= nil
end

k8s.every(settings.every, function()
  local used, seen = all_used(), {}
  for kind, informer in pairs(kinds) do
    for object in informer:lister():list() do
      local id = kind .. ":" .. object:key()
      if not is_used(used, kind, object) then seen[id] = { since[id] and since[id][1] or k8s.now() } end
      if seen[id] and k8s.now() - seen[id][1] >= settings.after then
        print("orphan " .. id)
        if settings.delete then k8s.delete(object, { precondition = { uid = object.metadata.uid } }) end
      end
    end
  end
  for id in pairs(since) do since[id] = seen[id] end
  for id, at in pairs(seen) do since[id] = at end
end)
