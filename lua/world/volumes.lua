-- Claims of volumes: each gets a volume that fits, or a new one if it names a class, or the cluster has a default one.
local api = require "world.api"
local cache = require "world.cache"
local events = require "world.events"
local quantity = require "world.quantity"
local queue = require "world.queue"
local selectors = require "world.selectors"
local values = require "world.values"

local AGENT, ID, VOLUMES = "kube-controller-manager", "persistentvolumeclaims", "persistentvolumes"
local CLASSES, DEFAULT = "storageclasses.storage.k8s.io", "storageclass.kubernetes.io/is-default-class"

local controller = { name = "volumes" }
local tell = events.recorder("persistentvolume-controller", ID)

local function has_all(list, wanted)
  local set = {}
  for _, item in ipairs(list or {}) do set[item] = true end
  for _, item in ipairs(wanted or {}) do
    if not set[item] then return false end
  end
  return true
end

local function size_of(spec) return quantity.of(((spec.resources or {}).requests or {}).storage) end

local function fits(volume, claim)
  local spec, ref = volume.spec, volume.spec.claimRef
  if ref then return ref.namespace == claim.metadata.namespace and ref.name == claim.metadata.name end
  return (spec.storageClassName or "") == (claim.spec.storageClassName or "")
    and has_all(spec.accessModes, claim.spec.accessModes)
    and quantity.of((spec.capacity or {}).storage) >= size_of(claim.spec)
    and (not claim.spec.selector or selectors.matches(volume.metadata.labels, claim.spec.selector))
end

-- The smallest volume that fits.
local function choose(claim)
  local best
  for _, volume in ipairs(cache.list(VOLUMES)) do
    if claim.spec.volumeName and volume.metadata.name == claim.spec.volumeName then return volume end
    local free = not volume.metadata.deletionTimestamp and (volume.status or {}).phase ~= "Released"
    if free and not claim.spec.volumeName and fits(volume, claim)
      and (not best or quantity.of(volume.spec.capacity.storage) < quantity.of(best.spec.capacity.storage)) then
      best = volume
    end
  end
  return best
end

local function reference(claim)
  return {
    kind = "PersistentVolumeClaim", apiVersion = "v1", namespace = claim.metadata.namespace,
    name = claim.metadata.name, uid = claim.metadata.uid,
  }
end

local function default_class()
  for _, class in ipairs(cache.list(CLASSES)) do
    if (class.metadata.annotations or {})[DEFAULT] == "true" then return class.metadata.name end
  end
  return #cache.list(CLASSES) == 0 and "standard" or nil
end

-- A new volume for a claim, of its class.
local function provision(claim)
  local class = claim.spec.storageClassName or default_class()
  if not class or class == "" then
    tell(claim, "Normal", "FailedBinding",
      "no persistent volumes available for this claim and no storage class is set")
    return
  end
  local known = cache.get(CLASSES, class)
  if not known and #cache.list(CLASSES) > 0 then return end
  local name = "pvc-" .. claim.metadata.uid
  local ok = api.create(AGENT, VOLUMES, nil, {
    metadata = { name = name },
    spec = {
      accessModes = claim.spec.accessModes, capacity = { storage = claim.spec.resources.requests.storage },
      claimRef = reference(claim), hostPath = { path = "/var/lib/volumes/pvc-" .. claim.metadata.uid },
      persistentVolumeReclaimPolicy = known and known.reclaimPolicy or "Delete",
      storageClassName = claim.spec.storageClassName or class, volumeMode = claim.spec.volumeMode,
    },
  })
  if ok then
    tell(claim, "Normal", "ProvisioningSucceeded",
      ("Successfully provisioned volume %s using kubernetes.io/host-path"):format(name))
  end
end

function controller.sync(key)
  local claim = cache.get(ID, key)
  if not claim or claim.metadata.deletionTimestamp or (claim.status or {}).phase == "Bound" then return end
  local volume = choose(claim)
  if not volume then return provision(claim) end
  if not (volume.spec.claimRef or {}).uid then
    api.patch(AGENT, VOLUMES, volume, { spec = { claimRef = reference(claim) } })
  end
  api.status(AGENT, VOLUMES, volume, values.merged(volume.status, { phase = "Bound" }))
  if not claim.spec.volumeName then
    api.patch(AGENT, ID, claim, { spec = {
      volumeName = volume.metadata.name,
      storageClassName = claim.spec.storageClassName or volume.spec.storageClassName,
    } })
  end
  api.status(AGENT, ID, claim, values.merged(claim.status, {
    phase = "Bound", accessModes = volume.spec.accessModes, capacity = volume.spec.capacity,
  }))
end

-- A volume whose claim is gone goes, too, or is released.
local volumes = { name = "released volumes" }
function volumes.sync(name)
  local volume = cache.get(VOLUMES, name)
  local ref = volume and volume.spec.claimRef
  if not volume or volume.metadata.deletionTimestamp then return end
  if not ref or not ref.uid then
    if not (volume.status or {}).phase or volume.status.phase == "Pending" then
      api.status(AGENT, VOLUMES, volume, { phase = "Available" })
    end
    return
  end
  local claim = cache.find(ref.uid)
  if claim then return queue.add(controller, claim.key) end
  if volume.spec.persistentVolumeReclaimPolicy == "Delete" then return api.delete(AGENT, VOLUMES, volume) end
  api.status(AGENT, VOLUMES, volume, values.merged(volume.status, { phase = "Released" }))
end

local function add_pending()
  for key, claim in values.sorted(cache.resources[ID].objects) do
    if (claim.status or {}).phase ~= "Bound" then queue.add(controller, key) end
  end
end

cache.on(ID, function(new, old, key)
  if new then queue.add(controller, key) end
  if not new and old.spec.volumeName then queue.add(volumes, old.spec.volumeName) end
end)
cache.on(VOLUMES, function(_, _, key)
  queue.add(volumes, key)
  add_pending()
end)
cache.on(CLASSES, add_pending)

return { controller, volumes }
