-- Common part of all writes: their arguments become a request: the kind, the place, the body.
local raw = ...

local options = require "k8s.options"
local task = require "k8s.task"

local blocking = task.blocking

local write = {}

local resource_of = blocking(raw.write.resource)

-- Resolves a kind.
function write.resource_of(verb, kind, subresource)
  return resource_of(verb, kind, subresource, task.cluster())
end

local json_of, turn_of, send = raw.write.body, blocking(raw.write.turn), blocking(raw.write.send)

-- Sends a body for a kind, when the script may write again. What is sent is the body as it is now.
function write.send_to(resource, verb, request, body, view)
  local json = json_of(resource, verb, request, body)
  local turn, err = turn_of(verb)
  if not turn then
    return nil, err
  end
  return send(resource, verb, request, json, view)
end

local is_view, copy = raw.view.is, raw.object.copy
local field = options.field

-- Options of all; of those that send an object or a part of one.
write.COMMON = { dry_run = "boolean", timeout = "duration" }
write.SENDING = options.extend(write.COMMON, { subresource = "string", manager = "string" })

local REF = { kind = "string", namespace = "string", name = "string" }

-- Checks for a function `where`, which writes as `verb` does, what its errors would name `verb` for: that it is
-- declared, and that the place has a namespace if the kind needs one. The resource, or nil, err.
function write.check(where, verb, place, subresource)
  local resource, err = resource_of(verb, place.kind, subresource, task.cluster(), where)
  if not resource then
    return nil, err
  end
  local _, _, plural, namespaced = raw.write.type_of(resource)
  if namespaced and (place.namespace == nil or place.namespace == "") then
    raw.raise(string.format('%s: %s "%s" are namespaced; missing namespace', where, plural, tostring(place.name)))
  end
  return resource
end

function write.is_object(value)
  return is_view(value) or type(value) == "table"
end

-- Shows what stands in place of an object, for messages.
function write.shown(value)
  return value == nil and "nil" or value == raw.null and "null" or "a " .. type(value)
end

-- Where a whole object is: what its apiVersion, kind and metadata say.
function write.place_of(verb, object)
  local version, kind, metadata = field(object, "apiVersion"), field(object, "kind"), field(object, "metadata")
  if type(version) ~= "string" or type(kind) ~= "string" then
    raw.raise(verb .. ": the object has no apiVersion and kind")
  end
  if metadata ~= nil and not write.is_object(metadata) then
    raw.raise(verb .. ": metadata must be a table, not " .. write.shown(metadata))
  end
  metadata = metadata or {}
  return {
    kind = version .. "/" .. kind,
    namespace = field(metadata, "namespace"),
    name = field(metadata, "name"),
    version = field(metadata, "resourceVersion"),
    view = is_view(object) and object or nil,
  }
end

function write.check_object(verb, object)
  if not write.is_object(object) then
    raw.raise(verb .. ": expected an object as a table or a view, not " .. write.shown(object))
  end
end

-- A reference is a view, a whole object as a table, or { kind, namespace, name }.
function write.place_of_ref(verb, ref)
  if is_view(ref) or type(ref) == "table" and field(ref, "metadata") ~= nil then
    return write.place_of(verb, ref)
  end
  if type(ref) ~= "table" then
    raw.raise(verb .. ": expected a view or { kind, namespace, name }, not " .. write.shown(ref))
  end
  local own = options.check(verb, ref, REF)
  if not own.kind or not own.name then
    raw.raise(verb .. ": a reference needs kind and name")
  end
  return own
end

function write.version_to_lock(verb, place)
  if type(place.version) ~= "string" then
    raw.raise(verb .. ": lock needs an object with metadata.resourceVersion")
  end
  return place.version
end

function write.is_tried(own)
  return own.dry_run or raw.write.dry_run == "server"
end

-- Arguments of raw.write.send beside the body.
function write.request_of(place, own)
  return {
    namespace = place.namespace,
    name = place.name,
    subresource = own.subresource,
    manager = own.manager,
    dry_run = write.is_tried(own),
    timeout = own.timeout,
  }
end

-- Both: the object as the server has it then, or nil, err.
function write.send(verb, place, request, body)
  local resource, err = write.resource_of(verb, place.kind, request.subresource)
  if not resource then
    return nil, err
  end
  return write.send_to(resource, verb, request, body, place.view)
end

-- A plain table with the entries of `t`, which may be a view.
local function shallow(t)
  if t == nil then
    return {}
  end
  if is_view(t) then
    return copy(t)
  end
  local new = {}
  for key, value in pairs(t) do
    new[key] = value
  end
  return new
end

-- Body for an object that a script passed complete. Of a table it is a copy as far as it names the object: what its
-- place is read from is what is sent, also when the script changes its table while the write waits for discovery.
function write.own(object)
  if is_view(object) then
    return object
  end
  local new = shallow(object)
  if type(new.metadata) == "table" then
    new.metadata = shallow(new.metadata)
  end
  return new
end

-- A copy of `body` with entries of its metadata set, where they are absent or `always`.
function write.with_metadata(verb, body, values, always)
  local new = shallow(body)
  if new.metadata ~= nil and not write.is_object(new.metadata) then
    raw.raise(verb .. ": metadata must be a table, not " .. write.shown(new.metadata))
  end
  new.metadata = shallow(new.metadata)
  for key, value in pairs(values) do
    if always or new.metadata[key] == nil then
      new.metadata[key] = value
    end
  end
  return new
end

return write
