-- What a controller owns: it adopts what its selector matches and nobody owns, and releases what no longer matches.
local api = require "world.api"
local cache = require "world.cache"
local selectors = require "world.selectors"
local values = require "world.values"

local owned = {}

-- The reference to an owner that controls.
function owned.reference(id, owner)
  local resource = cache.resources[id]
  return {
    apiVersion = resource.api_version, kind = resource.kind, name = owner.metadata.name, uid = owner.metadata.uid,
    controller = true, blockOwnerDeletion = true,
  }
end

local function adopt(agent, id, owner, child_id, child)
  local refs = values.copy(child.metadata.ownerReferences or {})
  refs[#refs + 1] = owned.reference(id, owner)
  return api.patch(agent, child_id, child, { metadata = { ownerReferences = refs } })
end

-- `raw.array` keeps an empty list one.
function owned.without(object, uid)
  local refs = values.filter(object.metadata.ownerReferences or {}, function(ref) return ref.uid ~= uid end)
  return require "world.raw".array(refs)
end

local adopts_nothing = { services = true, endpoints = true } -- a Service selects pods, not slices

-- The selector of what an owner adopts; nil for nothing. A ReplicationController has its labels alone.
local function selector_of(id, owner)
  if adopts_nothing[id] then return nil end
  if id == "replicationcontrollers" then return { matchLabels = owner.spec.selector } end
  return owner.spec.selector
end

-- The objects of `child_id` that the owner controls now. An owner that is being deleted adopts nothing.
function owned.claim(agent, id, owner, child_id)
  local list, uid, selector = {}, owner.metadata.uid, selector_of(id, owner)
  for _, child in ipairs(cache.owned(child_id, uid)) do
    local ref = cache.controller_of(child)
    if ref and ref.uid == uid then
      if selectors.matches(child.metadata.labels, selector) or child.metadata.deletionTimestamp then
        list[#list + 1] = child
      else
        api.patch(agent, child_id, child, { metadata = { ownerReferences = owned.without(child, uid) } })
      end
    end
  end
  if owner.metadata.deletionTimestamp then return list end
  for _, child in ipairs(cache.free(child_id, owner.metadata.namespace)) do
    if not child.metadata.deletionTimestamp and selectors.matches(child.metadata.labels, selector) then
      if adopt(agent, id, owner, child_id, child) then list[#list + 1] = child end
    end
  end
  return list
end

-- Whether an object without a controller may be adopted now, as it could not before.
local function is_free_now(new, old)
  if cache.controller_of(new) or new.metadata.deletionTimestamp then return false end
  return not old or cache.controller_of(old) ~= nil or not values.equal(new.metadata.labels, old.metadata.labels)
end

-- A handler that has the controller of the changed object looked at, before and after, if it is of that kind; an
-- object that is new, released or labeled otherwise may be for any owner in its namespace.
function owned.watch(child_id, id, add)
  cache.on(child_id, function(new, old)
    local kind = cache.resources[id].kind
    local seen
    for _, object in ipairs { old or false, new or false } do
      local ref = object and cache.controller_of(object)
      if ref and ref.kind == kind and ref.uid ~= seen then
        seen = ref.uid
        add(object.metadata.namespace .. "/" .. ref.name)
      end
    end
    if not (new and is_free_now(new, old)) then return end
    for _, owner in ipairs(cache.list(id, new.metadata.namespace)) do
      if selectors.matches(new.metadata.labels, selector_of(id, owner)) then add(cache.key_of(owner)) end
    end
  end)
end

return owned
