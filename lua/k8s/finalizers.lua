-- k8s.finalizers: adds and removes a finalizer of an object by a patch of this version of it, so that finalizers of
-- others stay. Both wait, and need the declared write KIND:patch.
local raw = ...

local options = require "k8s.options"
local patch = require "k8s.patch"
local write = require "k8s.write"

local finalizers = {}

local OF_KUBERNETES = { foregroundDeletion = true, kubernetes = true, orphan = true }

local function check(where, object, name)
  if not raw.view.is(object) and type(object) ~= "table" then
    raw.raise(where .. ": the object must be a view or a table, not " .. type(object))
  elseif type(name) ~= "string" or name == "" then
    raw.raise(where .. ": the finalizer must be a string, not " .. (name == "" and "an empty one" or type(name)))
  end
end

local DOMAIN_MAX, NAME_MAX = 253, 63

-- A server takes no other for its own kinds. Custom objects may have names without a domain, of which it only warns:
-- has and remove take them.
local function is_qualified(name)
  local domain, rest = string.match(name, "^([%l%d%.%-]+)/([%w%.%-_]+)$")
  if not domain or #domain > DOMAIN_MAX or #rest > NAME_MAX then
    return false
  end
  local bare = string.find("." .. domain .. ".", "%.[%.%-]") or string.find(domain .. ".", "%-%.")
  return not bare and string.find(rest, "^%w") ~= nil and string.find(rest, "%w$") ~= nil
end

-- The finalizers but `name`, and whether it was there.
local function others(object, name)
  local rest, has = raw.json.array(), false
  local metadata = options.field(object, "metadata")
  local list = metadata and metadata.finalizers or {}
  for _, one in (raw.view.is(list) and raw.view.ipairs or ipairs)(list) do
    if one == name then
      has = true
    else
      rest[#rest + 1] = one
    end
  end
  return rest, has
end

-- has(object, name)
function finalizers.has(object, name)
  check("k8s.finalizers.has", object, name)
  return (select(2, others(object, name)))
end

local function send(where, object, list)
  local place = write.place_of(where, object)
  local good, err = write.check(where, "k8s.patch", place)
  if not good then
    return nil, err
  elseif type(place.version) ~= "string" then
    raw.raise(where .. ": the object has no metadata.resourceVersion, the version that is patched")
  end
  return patch(object, { metadata = { finalizers = list } }, { lock = true })
end

-- add(object, name): the object with the finalizer, or nil, err. Nothing is sent for one that has it.
function finalizers.add(object, name)
  check("k8s.finalizers.add", object, name)
  if not OF_KUBERNETES[name] and not is_qualified(name) then
    raw.raise('k8s.finalizers.add: "' .. name .. '" is not a finalizer: it has the form example.org/name')
  end
  local list, has = others(object, name)
  if has then
    return object
  end
  list[#list + 1] = name
  return send("k8s.finalizers.add", object, list)
end

-- remove(object, name): the object without it, or nil, err. Of an object that goes with its last finalizer, what it
-- was at last.
function finalizers.remove(object, name)
  check("k8s.finalizers.remove", object, name)
  local list, has = others(object, name)
  if not has then
    return object
  end
  return send("k8s.finalizers.remove", object, #list > 0 and list or raw.null)
end

return finalizers
