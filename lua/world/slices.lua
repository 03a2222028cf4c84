-- EndpointSlices of an owner: as many as are wanted, with these labels.
local api = require "world.api"
local cache = require "world.cache"
local owned = require "world.owned"
local raw = require "world.raw"
local values = require "world.values"

local slices = {
  id = "endpointslices.discovery.k8s.io", service = "kubernetes.io/service-name",
  manager = "endpointslice.kubernetes.io/managed-by",
}

local AGENT = "kube-controller-manager"

-- Slices that the owner has by that controller.
function slices.of(owner, manager)
  return values.filter(cache.owned(slices.id, owner.metadata.uid), function(slice)
    local labels = slice.metadata.labels or {}
    return labels[slices.service] == owner.metadata.name and labels[slices.manager] == manager
      and not slice.metadata.deletionTimestamp
  end)
end

local function create(id, owner, slice, labels)
  slice.addressType = slice.addressType or "IPv4"
  slice.metadata = {
    generateName = owner.metadata.name .. "-", labels = labels, ownerReferences = { owned.reference(id, owner) },
  }
  api.create(AGENT, slices.id, owner.metadata.namespace, slice)
end

local function update(old, slice, labels)
  local patch = {}
  for _, field in ipairs { "endpoints", "ports" } do
    if not values.equal(old[field] or {}, slice[field] or {}) then patch[field] = slice[field] or raw.null end
  end
  local changed = values.diff(old.metadata.labels or {}, labels)
  if changed then patch.metadata = { labels = changed } end
  if next(patch) then api.patch(AGENT, slices.id, old, patch) end
end

-- `wanted`: { endpoints, ports, addressType (of new ones; IPv4) } each.
function slices.write(id, owner, wanted, labels)
  local present = slices.of(owner, labels[slices.manager])
  for i, slice in ipairs(wanted) do
    if present[i] then
      update(present[i], slice, labels)
    else
      create(id, owner, slice, labels)
    end
  end
  for i = #wanted + 1, #present do api.delete(AGENT, slices.id, present[i]) end
end

return slices
