-- Keys of a controller that an object names: its owners, by their references or by an index, and what a path leads to.
local raw = ...

local sources = require "k8s.index_sources"

local resource_of, each = raw.informer.resource, raw.view.ipairs
local get, namespace_of, is_view, key_of = raw.object.get, raw.object.namespace, raw.view.is, raw.object.key

local related = {}

-- The key of the object that controls `object`, if it is of the controller's kind. An owner lives in the namespace of
-- what it owns, or in none.
function related.controller_of(owner)
  return function(object)
    local _, group, kind, namespaced = resource_of(owner)
    local references = object.metadata.ownerReferences
    if not references then
      return
    end
    for _, reference in each(references) do
      local owner_group = string.match(reference.apiVersion, "^(.*)/") or ""
      if reference.controller and reference.kind == kind and owner_group == group then
        return namespaced and namespace_of(object) .. "/" .. reference.name or reference.name
      end
    end
  end
end

-- The texts at a path: one, or all that it leads to.
local function texts_at(object, path)
  local found = get(object, path)
  if type(found) == "string" then
    return { found }
  end
  local texts = {}
  if type(found) == "table" or is_view(found) then
    for i = 1, #found do
      texts[#texts + 1] = type(found[i]) == "string" and found[i] or nil
    end
  end
  return texts
end

-- A key as it is; a name is one in the object's namespace.
local function key_for(object, text, namespaced)
  if not namespaced or string.find(text, "/", 1, true) then
    return text
  end
  local namespace = namespace_of(object)
  return namespace and namespace .. "/" .. text
end

-- Keys at a path, such as "metadata.labels.owner" or "spec.volumes[*].configMap.name".
function related.at_path(owner, path)
  return function(object)
    local _, _, _, namespaced = resource_of(owner)
    local keys = {}
    for _, text in ipairs(texts_at(object, path)) do
      keys[#keys + 1] = text ~= "" and key_for(object, text, namespaced) or nil
    end
    return keys
  end
end

local UID = "^%x+%-%x+%-%x+%-%x+%-%x+$"
local UID_INDEX = "k8s.controller/uid"

-- What an index has an object under: its source is asked, as the index asks it.
local function values_of(source, object)
  if type(source) == "string" then
    return texts_at(object, source)
  end
  local values = {}
  source(object, function(value)
    values[#values + 1] = type(value) == "string" and value or nil
  end)
  return values
end

-- Owners by an index whose values are uids, as of "metadata.ownerReferences[*].uid", or keys. An owner that is not in
-- the cache has its own event when it comes.
function related.by_index(owner, entry)
  local source = (sources[entry.of] or {})[entry.index]
  if not source then
    raw.raise(string.format("k8s.controller: owns: the informer has no index %q; add it with add_index before",
      entry.index))
  end
  if not (sources[owner] or {})[UID_INDEX] then
    owner:add_index(UID_INDEX, "metadata.uid")
  end
  local lister = owner:lister()
  return function(object)
    local _, _, _, namespaced = resource_of(owner)
    local keys = {}
    for _, value in ipairs(values_of(source, object)) do
      local found = lister:by_index(UID_INDEX, value)[1]
      if found then
        keys[#keys + 1] = key_of(found)
      elseif not string.find(value, UID) then
        keys[#keys + 1] = key_for(object, value, namespaced)
      end
    end
    return keys
  end
end

return related
