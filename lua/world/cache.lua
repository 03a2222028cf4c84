-- The objects of the cluster as controllers see them, and who owns whom. A resource is a table that C describes: id
-- ("deployments.apps"), group, version, plural, kind, namespaced.
local values = require "world.values"

local cache = { resources = {} }

local handlers = {} -- of a resource's id: functions(new, old, key)
local ordered = {}  -- all resources, in the order in which they came
local by_uid = {}   -- uid -> { resource, key, object }

-- Whose objects controllers read; of others they have the metadata.
local whole = {}

function cache.key_of(object)
  local metadata = object.metadata
  return metadata.namespace and metadata.namespace .. "/" .. metadata.name or metadata.name
end

-- Calls fn(new, old, key, resource) at each change; `id` is "*" for every resource. Both objects may be nil.
function cache.on(id, fn)
  cache.also(id, fn)
  whole[id] = true
end

-- The same for one who needs the metadata only.
function cache.also(id, fn)
  handlers[id] = handlers[id] or {}
  table.insert(handlers[id], fn)
end

-- Has the resource's objects kept whole.
function cache.read(...)
  for _, id in ipairs { ... } do whole[id] = true end
end

-- The keys of a set in their order, until one comes or goes.
local orders = setmetatable({}, { __mode = "k" })

local function add_to(index, name, key, object)
  local set = index[name]
  if not set then
    set = {}
    index[name] = set
  end
  if not set[key] then orders[set] = nil end
  set[key] = object
end

local function remove_from(index, name, key)
  local set = index[name]
  if not set then return end
  set[key] = nil
  orders[set] = nil
  if next(set) == nil then index[name] = nil end
end

-- The reference to the controller that owns the object; nil if it has none.
function cache.controller_of(object)
  for _, ref in ipairs(object.metadata.ownerReferences or {}) do
    if ref.controller then return ref end
  end
end

local function index(resource, key, object, update)
  update(resource.spaces, object.metadata.namespace or "", key, object)
  for _, ref in ipairs(object.metadata.ownerReferences or {}) do update(resource.owned, ref.uid, key, object) end
  if not cache.controller_of(object) then update(resource.free, object.metadata.namespace or "", key, object) end
end

local function notify(resource, key, new, old)
  for _, fn in ipairs(handlers[resource.id] or {}) do fn(new, old, key, resource) end
  for _, fn in ipairs(handlers["*"] or {}) do fn(new, old, key, resource) end
end

-- Whether an object is in the same sets as the one before.
local function same_sets(old, new)
  return values.equal(old.metadata.ownerReferences, new.metadata.ownerReferences)
end

local function store(resource, key, object)
  local old = resource.objects[key]
  if old and not (object and same_sets(old, object)) then index(resource, key, old, remove_from) end
  if old then by_uid[old.metadata.uid] = nil end
  if (old == nil) ~= (object == nil) then orders[resource.objects] = nil end
  resource.objects[key] = object
  if object then
    index(resource, key, object, add_to)
    by_uid[object.metadata.uid] = { resource = resource, key = key, object = object }
  end
  notify(resource, key, object, old)
end

local take = {}

function take.RESOURCE(resource)
  resource.api_version = resource.group == "" and resource.version or resource.group .. "/" .. resource.version
  resource.path = (resource.group == "" and "/api/" or "/apis/") .. resource.api_version
  resource.whole = whole[resource.id] or false
  resource.objects, resource.spaces, resource.owned, resource.free = {}, {}, {}, {}
  cache.resources[resource.id] = resource
  ordered[#ordered + 1] = resource
end

function take.LIST(resource) resource.before = values.names(resource.objects) end

function take.ADDED(resource, object)
  local key = cache.key_of(object)
  if resource.before then
    resource.listed = resource.listed or {}
    resource.listed[key] = true
  end
  store(resource, key, object)
end

take.MODIFIED = take.ADDED

function take.DELETED(resource, object) store(resource, cache.key_of(object), nil) end

function take.LISTED(resource)
  for _, key in ipairs(resource.before) do
    if not (resource.listed and resource.listed[key]) then store(resource, key, nil) end
  end
  resource.before, resource.listed = nil, nil
end

-- A change of the server, as world.raw tells it.
function cache.take(type, resource, object) take[type](resource, object) end

function cache.get(id, key)
  local resource = cache.resources[id]
  return resource and resource.objects[key]
end

-- Objects of a set, in the order of their keys.
local function in_order(set)
  if not set then return {} end
  local order, list = orders[set], {}
  if not order then
    order = values.names(set)
    orders[set] = order
  end
  for i, key in ipairs(order) do list[i] = set[key] end
  return list
end

-- All of a resource, or of one namespace.
function cache.list(id, namespace)
  local resource = cache.resources[id]
  if not resource then return {} end
  if namespace then return in_order(resource.spaces[namespace]) end
  return in_order(resource.objects)
end

-- What has a reference to that owner, and what has no controller.
function cache.owned(id, uid) return in_order(cache.resources[id].owned[uid]) end
function cache.free(id, namespace) return in_order(cache.resources[id].free[namespace]) end

-- { resource, key, object } of a uid; nil if there is none.
function cache.find(uid) return by_uid[uid] end

-- All with a reference to that owner, as such entries.
function cache.dependents(uid)
  local list = {}
  for _, resource in ipairs(ordered) do
    for key, object in values.sorted(resource.owned[uid]) do
      list[#list + 1] = { resource = resource, key = key, object = object }
    end
  end
  return list
end

return cache
