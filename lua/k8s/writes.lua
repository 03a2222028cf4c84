-- Writes: k8s.create, k8s.update, k8s.patch, k8s.apply, k8s.delete, and k8s.writes, which declares them. Here the
-- arguments become what is sent: the kind, the place, the body.
local raw = ...

local options = require "k8s.options"
local blocking = require("k8s.task").blocking
local sleep = require("k8s.time").sleep

local writes = {}

local resource_of = blocking(raw.write.resource)
local send = blocking(raw.write.send)
local is_view, each, copy, array = raw.view.is, raw.view.ipairs, raw.object.copy, raw.json.array

-- Of all; of those that send an object or a part of one.
local COMMON = { dry_run = "boolean", timeout = "duration" }
local SENDING = options.extend(COMMON, { subresource = "string", manager = "string" })

local CREATE_OPTIONS = options.extend(SENDING, { of = "view or reference" })
local UPDATE_OPTIONS = options.extend(SENDING, { of = "view or reference", lock = "boolean" })
local PATCH_OPTIONS = options.extend(SENDING, { type = "string", lock = "boolean" })
local APPLY_OPTIONS = options.extend(SENDING, { force = "boolean", lock = "boolean" })
local DELETE_OPTIONS = options.extend(
  COMMON,
  { propagation = "string", precondition = "table", grace_period = "duration", lock = "boolean" }
)

local REF = { kind = "string", namespace = "string", name = "string" }
local PRECONDITION = { uid = "string", resource_version = "string" }

local PATCH_TYPES = {
  merge = "application/merge-patch+json",
  json = "application/json-patch+json",
  strategic = "application/strategic-merge-patch+json",
}

local PROPAGATION = { background = "Background", foreground = "Foreground", orphan = "Orphan" }

-- k8s.writes { "pods:patch", "pods/status:patch" }: what the script may write. While it loads only.
function writes.writes(declared)
  options.each_text("k8s.writes", declared, raw.write.declare)
end

local function is_object(value)
  return is_view(value) or type(value) == "table"
end

-- Shows what stands in place of an object, for messages.
local function shown(value)
  return value == nil and "nil" or value == raw.null and "null" or "a " .. type(value)
end

-- Where a whole object is: what its apiVersion, kind and metadata say.
local function place_of(verb, object)
  local version, kind, metadata = object.apiVersion, object.kind, object.metadata
  if type(version) ~= "string" or type(kind) ~= "string" then
    raw.raise(verb .. ": the object has no apiVersion and kind")
  end
  if metadata ~= nil and not is_object(metadata) then
    raw.raise(verb .. ": metadata must be a table, not " .. shown(metadata))
  end
  metadata = metadata or {}
  return {
    kind = version .. "/" .. kind,
    namespace = metadata.namespace,
    name = metadata.name,
    version = metadata.resourceVersion,
    view = is_view(object) and object or nil,
  }
end

local function check_object(verb, object)
  if not is_object(object) then
    raw.raise(verb .. ": expected an object as a table or a view, not " .. shown(object))
  end
end

-- A reference is a view, a whole object as a table, or { kind, namespace, name }.
local function place_of_ref(verb, ref)
  if is_view(ref) or type(ref) == "table" and ref.metadata ~= nil then
    return place_of(verb, ref)
  end
  if type(ref) ~= "table" then
    raw.raise(verb .. ": expected a view or { kind, namespace, name }, not " .. shown(ref))
  end
  options.check(verb, ref, REF)
  if not ref.kind or not ref.name then
    raw.raise(verb .. ": a reference needs kind and name")
  end
  return { kind = ref.kind, namespace = ref.namespace, name = ref.name }
end

local function version_to_lock(verb, place)
  if type(place.version) ~= "string" then
    raw.raise(verb .. ": lock needs an object with metadata.resourceVersion")
  end
  return place.version
end

local function is_tried(own)
  return own.dry_run or raw.write.dry_run == "server"
end

-- What raw.write.send takes beside the body.
local function request_of(place, own)
  return {
    namespace = place.namespace,
    name = place.name,
    subresource = own.subresource,
    manager = own.manager,
    dry_run = is_tried(own),
    timeout = own.timeout,
  }
end

local function write(verb, place, request, body)
  local resource, err = resource_of(verb, place.kind, request.subresource)
  if not resource then
    return nil, err
  end
  return send(resource, verb, request, body, place.view)
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

-- The same with entries of its metadata set, where they are absent or `always`.
local function with_metadata(verb, body, values, always)
  local new = shallow(body)
  if new.metadata ~= nil and not is_object(new.metadata) then
    raw.raise(verb .. ": metadata must be a table, not " .. shown(new.metadata))
  end
  new.metadata = shallow(new.metadata)
  for key, value in pairs(values) do
    if always or new.metadata[key] == nil then
      new.metadata[key] = value
    end
  end
  return new
end

-- k8s.create(object, options): the object as the server made it, or nil, err.
function writes.create(object, given)
  local own = options.check("k8s.create", given, CREATE_OPTIONS)
  check_object("k8s.create", object)
  local place = own.of and place_of_ref("k8s.create", own.of) or place_of("k8s.create", object)
  return write("k8s.create", place, request_of(place, own), object)
end

-- k8s.update(object, options): replaces it; nil, err with reason "Conflict" when it has another version by now.
function writes.update(object, given)
  local own = options.check("k8s.update", given, UPDATE_OPTIONS)
  check_object("k8s.update", object)
  local place = own.of and place_of_ref("k8s.update", own.of) or place_of("k8s.update", object)
  if own.lock then
    object = with_metadata("k8s.update", object, { resourceVersion = version_to_lock("k8s.update", place) }, true)
  end
  return write("k8s.update", place, request_of(place, own), object)
end

-- The server compares the version that the patched object has with the one it holds. (A `test` of a JSON patch would
-- answer 422, and that is no conflict.)
local function locked_patch(place, patch, form)
  local version = version_to_lock("k8s.patch", place)
  if form ~= "json" then
    return with_metadata("k8s.patch", patch, { resourceVersion = version }, true)
  end
  local new = { { op = "replace", path = "/metadata/resourceVersion", value = version } }
  for i, operation in (is_view(patch) and each or ipairs)(patch) do
    new[i + 1] = operation
  end
  return new
end

-- k8s.patch(ref, patch, { type = "merge"|"json"|"strategic" }): changes a part of an object.
function writes.patch(ref, patch, given)
  local own = options.check("k8s.patch", given, PATCH_OPTIONS)
  local place, form = place_of_ref("k8s.patch", ref), own.type or "merge"
  if not PATCH_TYPES[form] then
    raw.raise('k8s.patch: type must be "merge", "json" or "strategic", not "' .. form .. '"')
  end
  if not is_object(patch) then
    raw.raise("k8s.patch: the patch must be a table, not " .. shown(patch))
  end
  if form == "json" and not is_view(patch) and next(patch) == nil then
    patch = array {}
  end
  local request = request_of(place, own)
  request.content_type = PATCH_TYPES[form]
  return write("k8s.patch", place, request, own.lock and locked_patch(place, patch, form) or patch)
end

-- k8s.apply(ref, object, { manager, force }): server-side apply of the fields that the object has.
function writes.apply(ref, object, given)
  local own = options.check("k8s.apply", given, APPLY_OPTIONS)
  local place = place_of_ref("k8s.apply", ref)
  check_object("k8s.apply", object)
  local request = request_of(place, own)
  request.force = own.force
  local body = with_metadata("k8s.apply", object, { name = place.name, namespace = place.namespace })
  if own.lock then
    body.metadata.resourceVersion = version_to_lock("k8s.apply", place)
  end
  local resource, err = resource_of("k8s.apply", place.kind, own.subresource)
  if not resource then
    return nil, err
  end
  if body.apiVersion == nil and body.kind == nil then
    body.apiVersion, body.kind = raw.write.type_of(resource)
  end
  return send(resource, "k8s.apply", request, body)
end

-- All that a delete says is in its body: the server reads its options from there or from the query, not from both.
local function delete_options(place, own)
  local precondition = options.check("k8s.delete: precondition", own.precondition, PRECONDITION)
  local propagation = own.propagation and PROPAGATION[string.lower(own.propagation)]
  if own.propagation and not propagation then
    raw.raise(
      'k8s.delete: propagation must be "background", "foreground" or "orphan", not "' .. own.propagation .. '"'
    )
  end
  local uid = precondition.uid
  local version = own.lock and version_to_lock("k8s.delete", place) or precondition.resource_version
  return {
    apiVersion = "v1",
    kind = "DeleteOptions",
    propagationPolicy = propagation,
    gracePeriodSeconds = own.grace_period and raw.write.seconds("k8s.delete: grace_period", own.grace_period),
    preconditions = (uid or version) and { uid = uid, resourceVersion = version } or nil,
    dryRun = is_tried(own) and { "All" } or nil,
  }
end

-- k8s.delete(ref, { propagation, precondition }): the object as it goes, or true when it is gone, or nil, err.
function writes.delete(ref, given)
  local own = options.check("k8s.delete", given, DELETE_OPTIONS)
  local place = place_of_ref("k8s.delete", ref)
  return write("k8s.delete", place, request_of(place, own), delete_options(place, own))
end

-- client-go's retry.DefaultRetry.
local STEPS, PAUSE, JITTER = 5, 0.010, 0.1

local function is_conflict(err)
  return type(err) == "table" and err.reason == "Conflict"
end

-- The last digits of the clock are as random as this needs to be.
local function pause()
  sleep(PAUSE * (1 + JITTER * (raw.time.now() * 1e6 % 1000 / 1000)))
end

local function attempt(step, fn, ok, first, err, ...)
  local conflict = not ok and is_conflict(first) or ok and first == nil and is_conflict(err)
  if conflict and step < STEPS then
    pause()
    return attempt(step + 1, fn, pcall(fn))
  end
  if not ok then
    error(first, 0)
  end
  return first, err, ...
end

-- k8s.retry_on_conflict(fn): calls it, and again while it returns nil, err or raises an err with the reason "Conflict",
-- five times at most. It reads the object anew, changes and writes it.
function writes.retry_on_conflict(fn)
  if type(fn) ~= "function" then
    raw.raise("k8s.retry_on_conflict: expected a function, not " .. type(fn))
  end
  return attempt(1, fn, pcall(fn))
end

return writes
