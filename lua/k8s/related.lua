-- Keys of a controller that an object names: owners by an index, and what a path leads to. Most controllers use
-- neither, so this is loaded by those that do.
local raw = ...

local sources = require "k8s.index_sources"

local resource_of = raw.informer.resource
local get, namespace_of, is_view, key_of = raw.object.get, raw.object.namespace, raw.view.is, raw.object.key

local related = {}

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

local INDEX = { of = "userdata", index = "string" }

-- { of = pods, index = "owner" }
function related.check_index(entry)
  local own = require("k8s.options").check("k8s.controller: owns", entry, INDEX)
  if not own.of or not own.index then
    raw.raise "k8s.controller: owns: an index needs of and index: { of = pods, index = \"owner\" }"
  end
  return own
end

function related.check_path(path)
  raw.handler_options.path(raw.handler_options.new(), path, "k8s.controller: watches")
end

local UID = "^%x+%-%x+%-%x+%-%x+%-%x+$"
local UID_INDEX = "k8s.controller/uid"

-- Values that an index has an object under: its source is asked, as the index asks it.
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
