-- k8s.ensure(object): creates the object, or changes what differs from it. Fields that it does not have are left alone;
-- lists are compared as a whole. Waits; needs the declared read KIND:get and the writes KIND:create and KIND:patch.
local raw = ...

local live = require "k8s.live"
local patch = require "k8s.patch"
local write = require "k8s.write"
local whole = require "k8s.write_whole"

local is_view = raw.view.is

local function each(value)
  return (is_view(value) and raw.view.pairs or pairs)(value)
end

-- The first key; nil for a value that has none.
local function first(value)
  if type(value) == "table" or is_view(value) then
    local following, state, key = each(value)
    return (following(state, key))
  end
  return nil
end

local function is_nested(value)
  return type(value) == "table" or is_view(value)
end

-- An empty one may be a list as well.
local function is_map(value)
  return is_nested(value) and type(first(value)) ~= "number"
end

-- Quantities by the two names above theirs, and single ones by the name above: a server writes them in its own way,
-- cpu = "1000m" as "1".
local QUANTITIES = {
  resources = { requests = true, limits = true },
  spec = { hard = true, capacity = true },
  limits = { max = true, min = true, default = true, defaultRequest = true, maxLimitRequestRatio = true },
}
local SINGLE = { emptyDir = "sizeLimit", resourceFieldRef = "divisor" }

local function is_quantity(above, parent, name)
  return QUANTITIES[above] and QUANTITIES[above][parent] or SINGLE[parent] == name
end

local SCALARS = { string = true, number = true }

local function same_quantity(a, b)
  if not SCALARS[type(a)] or not SCALARS[type(b)] then
    return false
  end
  local wanted, has = raw.quantity(a), raw.quantity(b)
  return wanted ~= nil and has ~= nil and wanted == has
end

local difference

-- Of maps within a list, too, a server may have more, such as defaults; a list is of the same length. `above` and
-- `parent` are the names of the two that hold the value.
local function equal(a, b, above, parent)
  if not is_nested(a) then
    return a == b or a == raw.null and b == nil
  end
  if b == nil then
    return first(a) == nil -- which servers leave out
  end
  if not is_nested(b) or #a ~= #b then
    return false
  end
  if is_map(a) then
    return is_map(b) and difference(a, b, above, parent) == nil
  end
  for i = 1, #a do
    if not equal(a[i], b[i], above, parent) then
      return false
    end
  end
  return true
end

-- What of `wanted` the object does not have; nil if nothing.
function difference(wanted, has, above, parent)
  local found
  for name, value in each(wanted) do
    local old = has[name]
    local part = value
    if is_map(value) and is_map(old) then
      part = difference(value, old, parent, name)
    elseif equal(value, old, parent, name) or is_quantity(above, parent, name) and same_quantity(value, old) then
      part = nil
    end
    if part ~= nil then
      found = found or {}
      found[name] = part
    end
  end
  return found
end

-- A server keeps stringData of a Secret as data, and nothing of it can be read back: the Secret as it would be then.
local function with_data(object)
  local strings = object.kind == "Secret" and object.stringData
  if not strings or not is_nested(strings) then
    return object
  end
  local copy, data = {}, {}
  for name, value in each(object) do
    copy[name] = value
  end
  for name, value in each(object.data or {}) do
    data[name] = value
  end
  for name, value in each(strings) do
    if type(value) ~= "string" then
      return object -- which the server refuses
    end
    data[name] = raw.base64.encode(value)
  end
  copy.stringData, copy.data = nil, data
  return copy
end

-- Raises in the name of k8s.ensure for what the reads and writes below would raise for in theirs.
local function check(object)
  local where = "k8s.ensure"
  local place = write.place_of(where, object)
  for _, verb in ipairs { "k8s.create", "k8s.patch" } do
    local good, err = write.check(where, verb, place)
    if not good then
      return nil, err
    end
  end
  return live.check(where, place.kind)
end

-- Gives the object and "created", "changed" or "unchanged"; or nil, err.
return function(object, given)
  local where = "k8s.ensure"
  if given ~= nil then
    raw.raise(where .. ": takes an object, and no options")
  elseif type(object) ~= "table" or type(object.metadata) ~= "table" or type(object.metadata.name) ~= "string" then
    raw.raise(where .. ": the object must be a table with apiVersion, kind and metadata.name")
  end
  local metadata, current = object.metadata
  if metadata.namespace ~= nil and type(metadata.namespace) ~= "string" then
    raw.raise(where .. ": metadata.namespace must be a string, not " .. write.shown(metadata.namespace))
  end
  local good, err = check(object)
  if not good then
    return nil, err
  end
  local key = metadata.namespace and metadata.namespace .. "/" .. metadata.name or metadata.name
  current, err = live.get(object.apiVersion .. "/" .. object.kind, key)
  if not current and err.code == 404 then
    local created
    created, err = whole.create(object)
    return created, created and "created" or err
  elseif not current then
    return nil, err
  end
  local part = difference(with_data(object), current)
  if not part then
    return current, "unchanged"
  end
  local changed
  changed, err = patch(current, part)
  return changed, changed and "changed" or err
end
