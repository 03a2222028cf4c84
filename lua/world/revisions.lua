-- ControllerRevisions: the templates that a StatefulSet or DaemonSet has had.
local api = require "world.api"
local cache = require "world.cache"
local owned = require "world.owned"
local values = require "world.values"

local AGENT, ID = "kube-controller-manager", "controllerrevisions.apps"

local revisions = {}

cache.read(ID)

local function data_of(template)
  local spec = values.copy(template)
  spec["$patch"] = "replace"
  return { spec = { template = spec } }
end

-- The template of a revision by its name; nil if it is gone.
function revisions.template(owner, name)
  local revision = cache.get(ID, owner.metadata.namespace .. "/" .. name)
  if not revision then return nil end
  local template = values.copy(revision.data.spec.template)
  template["$patch"] = nil
  return template
end

-- The name and the hash of the owner's present template, which gets a revision, the newest.
function revisions.present(id, owner)
  local data, newest, found = data_of(owner.spec.template), 0, nil
  for _, revision in ipairs(cache.owned(ID, owner.metadata.uid)) do
    newest = math.max(newest, revision.revision)
    if values.equal(revision.data, data) then found = revision end
  end
  if found then
    if found.revision < newest then api.patch(AGENT, ID, found, { revision = newest + 1 }) end
    return found.metadata.name, found.metadata.labels["controller.kubernetes.io/hash"]
  end
  local hash = values.hash(owner.spec.template)
  local name = owner.metadata.name .. "-" .. hash
  api.create(AGENT, ID, owner.metadata.namespace, {
    metadata = {
      name = name, ownerReferences = { owned.reference(id, owner) },
      labels = values.merged(owner.spec.template.metadata.labels, { ["controller.kubernetes.io/hash"] = hash }),
    },
    data = data, revision = newest + 1,
  })
  return name, hash
end

-- Deletes the oldest ones that no pod has, but for as many as the history keeps. `used` is a set of names.
function revisions.tidy(owner, used)
  local idle = values.filter(cache.owned(ID, owner.metadata.uid), function(revision)
    return not used[revision.metadata.name]
  end)
  table.sort(idle, function(a, b) return a.revision < b.revision end)
  for i = 1, #idle - (owner.spec.revisionHistoryLimit or 10) do api.delete(AGENT, ID, idle[i]) end
end

return revisions
