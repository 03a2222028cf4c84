-- k8s.history(obj): the versions of an object that the engine keeps (run --history), the newest first. The engine has
-- what each one replaced; from the object as it is now the older states are made, one after another.
local raw = ...

local options = require "k8s.options"

local decode, encode = raw.json.decode, raw.json.encode

-- Steps of a path: "spec.containers[0]['a.b']" are "spec", "containers", 1, "a.b".
local function steps_of(path)
  local steps, at = {}, 1
  while at <= #path do
    local stop, index = select(2, string.find(path, "^%[(%d+)%]", at))
    if stop then
      steps[#steps + 1] = tonumber(index) + 1
      at = stop + 1
    elseif string.sub(path, at, at + 1) == "['" then
      local key, from = "", at + 2
      while string.sub(path, from, from) ~= "'" do
        if string.sub(path, from, from) == "\\" then
          from = from + 1
        end
        key, from = key .. string.sub(path, from, from), from + 1
      end
      steps[#steps + 1] = key
      at = from + 2
    else
      local _, last, name = string.find(path, "^%.?([^.%[]+)", at)
      steps[#steps + 1] = name
      at = last + 1
    end
  end
  return steps
end

-- Puts a value in its place and returns the one before; nil is absent, on both sides.
local function replace(object, path, value)
  local steps, place = steps_of(path), object
  for i = 1, #steps - 1 do
    place = place[steps[i]]
    if type(place) ~= "table" then
      return nil -- a change inside of what is not there, which the versions before it brought
    end
  end
  local last = steps[#steps]
  local before = place[last]
  place[last] = value
  return before
end

-- A copy that later changes leave alone.
local function copy(value)
  if type(value) == "table" then
    return decode(encode(value))
  end
  return value
end

-- Returns the changes of the version whose state `object` is, which becomes the state before it.
local function go_back(object, version)
  local changes = {}
  for i = 1, #version, 2 do
    local path, text = version[i], version[i + 1]
    local old
    if text then
      old = decode(text)
    end
    changes[#changes + 1] = { path = path, old = copy(old), new = copy(replace(object, path, old)) }
  end
  return raw.json.array(changes)
end

local function text_or_nil(text)
  return text ~= "" and text or nil
end

local history = {}

-- kind, namespace and name of an object, or of a table that says them.
function history.place_of(obj)
  local is_object = raw.view.is(obj) or type(obj) == "table" and type(obj.metadata) == "table"
  if is_object then
    local version, kind = obj.apiVersion, obj.kind
    if type(version) == "string" and type(kind) == "string" then
      local metadata = obj.metadata
      return version .. "/" .. kind, metadata.namespace or "", metadata.name
    end
  elseif type(obj) == "table" then
    local own = options.check("k8s.history", obj, { kind = "string", namespace = "string", name = "string" })
    if own.kind and own.name then
      return own.kind, own.namespace or "", own.name
    end
  end
  raw.raise "k8s.history: expected an object, or { kind =, namespace =, name = }"
end

function history.of(obj, given)
  local own = options.check("k8s.history", given or {}, { objects = "boolean" })
  local object, deleted, versions = raw.history(history.place_of(obj))
  if not versions then
    return nil, { message = "k8s.history: " .. deleted, reason = "NotFound", code = 404 }
  end
  local state = object and raw.object.copy(object)
  -- An array, also to k8s.json: what is said of all versions stands beside it.
  local meta = { __index = { deleted = deleted, kind = object and object.kind } }
  local list = setmetatable({}, raw.json.array(meta))
  for i, version in ipairs(versions) do
    if state then
      state.metadata.resourceVersion = version.resource_version
    end
    local shown = own.objects and state and copy(state) or nil
    list[i] = {
      time = version.time, event = version.event, resource_version = version.resource_version,
      manager = text_or_nil(version.manager), script = text_or_nil(version.script), object = shown,
      changes = state and go_back(state, version) or raw.json.array(),
    }
  end
  return list
end

return history
