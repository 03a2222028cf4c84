-- StatefulSets: pods with numbers, one after the other, and their claims.
local api = require "world.api"
local cache = require "world.cache"
local events = require "world.events"
local owned = require "world.owned"
local pods = require "world.pods"
local queue = require "world.queue"
local revisions = require "world.revisions"
local times = require "world.times"
local values = require "world.values"

local AGENT, ID, CLAIMS = "kube-controller-manager", "statefulsets.apps", "persistentvolumeclaims"
local REVISION = "controller-revision-hash"

local controller = { name = ID }
local tell = events.recorder("statefulset-controller", ID)

local function ordinal_of(set, pod)
  local name = set.metadata.name
  return pod.metadata.name:sub(1, #name + 1) == name .. "-" and tonumber(pod.metadata.name:sub(#name + 2)) or nil
end

-- Says what was done with a pod or, by `more`, with its claim.
local function tell_of(verb, set, pod, ok, message, more)
  local text = ("%s %sPod %s in StatefulSet %s "):format(verb, more or "", pod.metadata.name, set.metadata.name)
  if ok then
    tell(set, "Normal", "Successful" .. verb, text .. (more and "success" or "successful"))
  else
    tell(set, "Warning", "Failed" .. verb, text .. "failed error: " .. message)
  end
end

local function delete_pod(set, pod)
  local ok, _, _, message = api.delete(AGENT, "pods", pod)
  tell_of("Delete", set, pod, ok, message)
end

local function revision_of(pod) return (pod.metadata.labels or {})[REVISION] end

-- The claims of a pod, which outlive it; its volumes name them.
local function add_claims(set, pod)
  for _, template in ipairs(set.spec.volumeClaimTemplates or {}) do
    local name = template.metadata.name .. "-" .. pod.metadata.name
    if not cache.get(CLAIMS, set.metadata.namespace .. "/" .. name) then
      local ok, _, _, message = api.create(AGENT, CLAIMS, set.metadata.namespace, {
        metadata = { name = name, annotations = template.metadata.annotations,
          labels = values.merged(template.metadata.labels, set.spec.selector.matchLabels) },
        spec = values.copy(template.spec),
      })
      tell_of("Create", set, pod, ok, message, ("Claim %s %s"):format(name, ok and "" or "for "))
    end
    pod.spec.volumes = values.filter(pod.spec.volumes or {}, function(v) return v.name ~= template.metadata.name end)
    table.insert(pod.spec.volumes, { name = template.metadata.name, persistentVolumeClaim = { claimName = name } })
  end
end

local function create_pod(set, ordinal, revision, template)
  local name = set.metadata.name .. "-" .. ordinal
  local pod = pods.of_template(template, owned.reference(ID, set), {
    [REVISION] = revision, ["statefulset.kubernetes.io/pod-name"] = name,
    ["apps.kubernetes.io/pod-index"] = tostring(ordinal),
  })
  pod.metadata.name, pod.spec.hostname = name, name
  pod.spec.subdomain = set.spec.serviceName ~= "" and set.spec.serviceName or nil
  add_claims(set, pod)
  local ok, _, _, message = api.create(AGENT, "pods", set.metadata.namespace, pod)
  tell_of("Create", set, pod, ok, message)
end

local function partition_of(set)
  local strategy = set.spec.updateStrategy or {}
  if strategy.type == "OnDelete" then return math.huge end
  return (strategy.rollingUpdate or {}).partition or 0
end

-- A new pod has the new template, but below the partition the present one.
local function revision_for(set, ordinal, first, names)
  local old = names.current ~= names.update and revisions.template(set, names.current)
  if old and ordinal - first < partition_of(set) then return names.current, old end
  return names.update, set.spec.template
end

-- Whether a pod is up and ready for the next one to follow.
local function is_sound(set, pod)
  local at = pods.available_at(pod, set.spec.minReadySeconds)
  return at and at <= times.now() and not pod.metadata.deletionTimestamp
end

-- Creates and replaces pods; returns whether all are sound, in order unless `parallel`.
local function fill(set, by_ordinal, first, names, parallel)
  local all = true
  for ordinal = first, first + set.spec.replicas - 1 do
    local pod = by_ordinal[ordinal]
    if not pod then
      create_pod(set, ordinal, revision_for(set, ordinal, first, names))
    elseif pods.is_over(pod) and not pod.metadata.deletionTimestamp then
      delete_pod(set, pod)
    end
    all = all and pod ~= nil and is_sound(set, pod)
    if not all and not parallel then return false end
  end
  return all
end

-- Deletes pods beyond the last, the highest first; returns whether none is left.
local function cut(set, by_ordinal, first, parallel)
  local extra = values.filter(values.names(by_ordinal), function(n)
    return n < first or n >= first + set.spec.replicas
  end)
  for i = #extra, 1, -1 do
    local pod = by_ordinal[extra[i]]
    if not pod.metadata.deletionTimestamp then delete_pod(set, pod) end
    if not parallel then return false end
  end
  return #extra == 0
end

-- Deletes the highest pod of an earlier template, if all above it are sound.
local function update(set, by_ordinal, first, names)
  for ordinal = first + set.spec.replicas - 1, first + math.min(partition_of(set), set.spec.replicas), -1 do
    local pod = by_ordinal[ordinal]
    if not pod or pod.metadata.deletionTimestamp then return end
    if revision_of(pod) ~= names.update then
      delete_pod(set, pod)
      return
    end
    if not is_sound(set, pod) then return end
  end
end

local function write_status(set, key, all, names)
  local n = { replicas = 0, ready = 0, available = 0, current = 0, updated = 0 }
  for _, pod in ipairs(all) do
    local at = pods.available_at(pod, set.spec.minReadySeconds)
    local active = not pod.metadata.deletionTimestamp
    n.replicas = n.replicas + 1
    if at then n.ready = n.ready + 1 end
    if at and at <= times.now() then n.available = n.available + 1 end
    if at and at > times.now() then queue.add_at(at, controller, key) end
    if active and revision_of(pod) == names.current then n.current = n.current + 1 end
    if active and revision_of(pod) == names.update then n.updated = n.updated + 1 end
  end
  if n.updated == n.replicas and n.ready == n.replicas and n.replicas == set.spec.replicas then
    names.current, n.current = names.update, n.updated
  end
  local function some(count) return count > 0 and count or nil end
  api.status(AGENT, ID, set, values.merged({ conditions = (set.status or {}).conditions }, {
    observedGeneration = set.metadata.generation, replicas = n.replicas, readyReplicas = some(n.ready),
    availableReplicas = n.available, currentReplicas = some(n.current), updatedReplicas = some(n.updated),
    currentRevision = names.current, updateRevision = names.update, collisionCount = 0,
  }))
  revisions.tidy(set, { [names.current] = true, [names.update] = true })
end

function controller.sync(key)
  local set = cache.get(ID, key)
  if not set then return end
  local all = owned.claim(AGENT, ID, set, "pods")
  local names, by_ordinal = { update = revisions.present(ID, set) }, {}
  names.current = (set.status or {}).currentRevision or names.update
  for _, pod in ipairs(all) do by_ordinal[ordinal_of(set, pod) or -1] = pod end
  by_ordinal[-1] = nil
  if not set.metadata.deletionTimestamp then
    local first, parallel = (set.spec.ordinals or {}).start or 0, set.spec.podManagementPolicy == "Parallel"
    local sound = fill(set, by_ordinal, first, names, parallel)
    if (sound or parallel) and cut(set, by_ordinal, first, parallel) then update(set, by_ordinal, first, names) end
  end
  write_status(set, key, all, names)
end

local function add(key) queue.add(controller, key) end
cache.on(ID, function(_, _, key) add(key) end)
owned.watch("pods", ID, function(key) queue.add_soon(controller, key) end)

return { controller }
