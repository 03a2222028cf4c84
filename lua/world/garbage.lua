-- Garbage collector: what was owned goes with its owner, and owners that wait for it go behind it.
local api = require "world.api"
local cache = require "world.cache"
local owned = require "world.owned"
local queue = require "world.queue"
local raw = require "world.raw"
local values = require "world.values"

local AGENT = "kube-controller-manager"
local ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"

local controller = { name = "garbage" }

local function has_finalizer(object, name)
  for _, finalizer in ipairs(object.metadata.finalizers or {}) do
    if finalizer == name then return true end
  end
  return false
end

local function remove_finalizer(entry, name)
  local rest = values.filter(entry.object.metadata.finalizers, function(finalizer) return finalizer ~= name end)
  api.patch(AGENT, entry.resource.id, entry.object, { metadata = { finalizers = raw.array(rest) } })
end

local function waits_for_dependents(object)
  return object.metadata.deletionTimestamp and has_finalizer(object, FOREGROUND)
end

local function blocks(dependent, uid)
  for _, ref in ipairs(dependent.object.metadata.ownerReferences) do
    if ref.uid == uid and ref.blockOwnerDeletion then return true end
  end
  return false
end

-- Dependents of an owner that goes last are deleted; it goes when none blocks it any more.
local function finish_foreground(entry)
  local uid, blocked = entry.object.metadata.uid, false
  for _, dependent in ipairs(cache.dependents(uid)) do
    blocked = blocked or blocks(dependent, uid)
    queue.add(controller, dependent.object.metadata.uid)
  end
  if not blocked then remove_finalizer(entry, FOREGROUND) end
end

local function finish_orphan(entry)
  local uid = entry.object.metadata.uid
  for _, dependent in ipairs(cache.dependents(uid)) do
    api.patch(AGENT, dependent.resource.id, dependent.object,
      { metadata = { ownerReferences = owned.without(dependent.object, uid) } })
  end
  remove_finalizer(entry, ORPHAN)
end

-- The owners: those that are there, those that wait for their dependents, and whether any is gone.
local function owners_of(object)
  local solid, waiting, gone = {}, {}, {}
  for _, ref in ipairs(object.metadata.ownerReferences or {}) do
    local owner = cache.find(ref.uid)
    local namespace = owner and owner.object.metadata.namespace
    if not owner or (namespace and namespace ~= object.metadata.namespace) then
      gone[#gone + 1] = ref
    elseif waits_for_dependents(owner.object) and ref.blockOwnerDeletion then
      waiting[#waiting + 1] = ref
    else
      solid[#solid + 1] = ref
    end
  end
  return solid, waiting, gone
end

local function policy_of(object, in_foreground)
  if has_finalizer(object, ORPHAN) then return "Orphan" end
  return (in_foreground or has_finalizer(object, FOREGROUND)) and "Foreground" or "Background"
end

local function collect(entry)
  local object = entry.object
  local solid, waiting, gone = owners_of(object)
  if #solid > 0 then
    if #waiting + #gone > 0 then
      api.patch(AGENT, entry.resource.id, object, { metadata = { ownerReferences = solid } })
    end
  elseif #waiting > 0 then
    api.delete(AGENT, entry.resource.id, object,
      policy_of(object, #cache.dependents(object.metadata.uid) > 0))
  elseif #gone > 0 then
    api.delete(AGENT, entry.resource.id, object, policy_of(object))
  end
end

function controller.sync(uid)
  local entry = cache.find(uid)
  if not entry then return end
  if not entry.object.metadata.deletionTimestamp then return collect(entry) end
  if has_finalizer(entry.object, ORPHAN) then return finish_orphan(entry) end
  if has_finalizer(entry.object, FOREGROUND) then finish_foreground(entry) end
end

local function is_news(new, old)
  local metadata = new.metadata
  if metadata.deletionTimestamp then return metadata.finalizers ~= nil end
  return metadata.ownerReferences
    and not (old and values.equal(metadata.ownerReferences, old.metadata.ownerReferences))
end

cache.on("*", function(new, old)
  if new and is_news(new, old) then queue.add(controller, new.metadata.uid) end
  if not old or (new and new.metadata.uid == old.metadata.uid) then return end
  for _, dependent in ipairs(cache.dependents(old.metadata.uid)) do
    queue.add(controller, dependent.object.metadata.uid)
  end
  for _, ref in ipairs(old.metadata.ownerReferences or {}) do queue.add(controller, ref.uid) end
end)

return { controller }
