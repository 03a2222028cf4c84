-- Reports, and with `--param delete=true` deletes, what has been of no use for `after`: ConfigMaps, Secrets and volume
-- claims that no pod, template of pods, service account or ingress names, and services that select none of them. What
-- has an owner, or the annotation `recipes/keep`, stays. Custom resources may use things, too.
--   kubelua run -f scripts/orphans.lua --param after=7d
local k8s = require "k8s"

k8s.writes { "configmaps:delete", "secrets:delete", "persistentvolumeclaims:delete", "services:delete" }

local settings = k8s.params {
  after = { type = "duration", default = "1d", min = 0, help = "how long nothing has used it" },
  delete = { default = false, help = "delete, not only report" },
  every = { type = "duration", default = "10m", min = 1, help = "how often it looks" },
}

local since = k8s.state("since", { init = {} })

local KINDS = { "configmaps", "secrets", "persistentvolumeclaims", "services" }
local USERS = { "pods", "deployments", "statefulsets", "daemonsets", "jobs", "cronjobs", "serviceaccounts",
  "ingresses.networking.k8s.io" }
local informers = {}
for _, kind in ipairs(KINDS) do informers[kind] = k8s.informer(kind) end
for _, kind in ipairs(USERS) do informers[kind] = k8s.informer(kind) end

local function kind_of(key)
  if key == "claimName" then return "persistentvolumeclaims" end
  return key:find "^configMap" and "configmaps" or key:lower():find "secret" and "secrets"
end

-- Notes names by the fields that they are in, wherever those are, and the labels of pods and of templates.
local function note(used, namespace, part, kind)
  for key, value in pairs(part) do
    local named = type(key) == "number" and kind or type(key) == "string" and kind_of(key)
    local name = type(value) == "table" and value.name or type(value) == "string" and value
    if named and name then used.names[named .. ":" .. namespace .. "/" .. name] = true end
    if key == "metadata" then table.insert(used.labels, { of = namespace, labels = value.labels or {} }) end
    if type(value) == "table" then note(used, namespace, value, named) end
  end
end

local function all_used()
  local used = { names = {}, labels = {} }
  for _, kind in ipairs(USERS) do
    for object in informers[kind]:lister():list() do
      note(used, object:namespace(), object:copy())
      for _, claim in ipairs(object:get "spec.volumeClaimTemplates[*].metadata.name" or {}) do
        used.names["persistentvolumeclaims:" .. object:namespace() .. "/" .. claim .. "-" .. object:name()] = true
      end
    end
  end
  return used
end

local function is_used(used, kind, object)
  if object.metadata.ownerReferences or object:annotation "recipes/keep" then return true end
  if object.type == "kubernetes.io/service-account-token" or object:name() == "kube-root-ca.crt" then return true end
  for _, one in ipairs(kind == "services" and used.labels or {}) do
    local all = one.of == object:namespace()
    for label, value in pairs(object.spec.selector or {}) do all = all and one.labels[label] == value end
    if all then return true end
  end
  return used.names[kind .. ":" .. object:key()] or used.names[kind .. ":" .. object:key():gsub("%-%d+$", "")]
end

k8s.every(settings.every, function()
  for _, informer in pairs(informers) do if not informer:has_synced() then return end end
  local used, seen = all_used(), {}
  for _, kind in ipairs(KINDS) do
    for object in informers[kind]:lister():list() do
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
