-- EndpointSlices of services without a selector: what a client says in Endpoints.
local api = require "world.api"
local cache = require "world.cache"
local owned = require "world.owned"
local queue = require "world.queue"
local raw = require "world.raw"
local slices = require "world.slices"
local values = require "world.values"

local AGENT, ID, SERVICES = "kube-controller-manager", "endpoints", "services"
local MANAGER, SKIP = "endpointslicemirroring-controller.k8s.io", "endpointslice.kubernetes.io/skip-mirror"
local LEADER = "control-plane.alpha.kubernetes.io/leader"

local controller = { name = "mirrors" }

local function endpoint(address, ready)
  return {
    addresses = { address.ip }, conditions = { ready = ready }, nodeName = address.nodeName,
    hostname = address.hostname, targetRef = address.targetRef,
  }
end

local function ports_of(subset)
  local list = raw.array {}
  for i, port in ipairs(subset.ports or {}) do list[i] = values.merged({ name = "" }, port) end
  return #list > 0 and list or nil
end

-- A slice for each subset and family of its addresses.
local function wanted_slices(endpoints)
  local wanted = {}
  for _, subset in ipairs(endpoints.subsets or {}) do
    local by_type = {}
    for _, field in ipairs { "addresses", "notReadyAddresses" } do
      for _, address in ipairs(subset[field] or {}) do
        local type = (address.ip or ""):find(":", 1, true) and "IPv6" or "IPv4"
        if not by_type[type] then
          by_type[type] = { addressType = type, endpoints = raw.array {}, ports = ports_of(subset) }
          wanted[#wanted + 1] = by_type[type]
        end
        table.insert(by_type[type].endpoints, endpoint(address, field == "addresses"))
      end
    end
  end
  return wanted
end

-- Whether they are mirrored.
local function counts(endpoints, service)
  if not service or service.spec.selector or endpoints.metadata.deletionTimestamp then return false end
  return (endpoints.metadata.labels or {})[SKIP] ~= "true" and not (endpoints.metadata.annotations or {})[LEADER]
end

function controller.sync(key)
  local endpoints = cache.get(ID, key)
  if not endpoints then return end -- its slices go with it
  if not counts(endpoints, cache.get(SERVICES, key)) then
    for _, slice in ipairs(slices.of(endpoints, MANAGER)) do api.delete(AGENT, slices.id, slice) end
    return
  end
  slices.write(ID, endpoints, wanted_slices(endpoints), values.merged(endpoints.metadata.labels,
    { [slices.service] = endpoints.metadata.name, [slices.manager] = MANAGER }))
end

local function add(key) queue.add(controller, key) end
cache.on(ID, function(_, _, key) add(key) end)
cache.on(SERVICES, function(_, _, key) if cache.get(ID, key) then add(key) end end)
owned.watch(slices.id, ID, add)

return { controller }
