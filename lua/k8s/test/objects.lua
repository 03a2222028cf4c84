-- The cluster of a test: which objects a spec means, and changing them past all that a script sees.
local raw = ...

local json = raw.json
local test = raw.test

local objects = {}

local function deep_copy(value)
  if type(value) ~= "table" then
    return value
  end
  local copy = setmetatable({}, getmetatable(value))
  for key, item in pairs(value) do
    copy[key] = deep_copy(item)
  end
  return copy
end
objects.copy = deep_copy

local function decode(text)
  local value, err = json.decode(text)
  if value == nil then
    raw.raise(tostring(err))
  end
  return value
end

-- Resolves a kind: group, version, plural, kind, namespaced.
function objects.resource(env, verb, kind)
  if type(kind) ~= "string" then
    raw.raise(verb .. ": kind must be a string, not " .. type(kind))
  end
  local resource, problem = test.resolve(env.engine, kind)
  if not resource then
    raw.raise(verb .. ": " .. problem)
  end
  return resource
end

-- "pods", "deployments.apps".
function objects.name_of(resource)
  return resource.group == "" and resource.plural or resource.plural .. "." .. resource.group
end

function objects.api_version(resource)
  return resource.group == "" and resource.version or resource.group .. "/" .. resource.version
end

-- The kind of an object as a name that discovery knows.
local function kind_of(verb, object)
  if type(object.kind) ~= "string" then
    raw.raise(verb .. ": the object has no kind")
  end
  return object.apiVersion and object.apiVersion .. "/" .. object.kind or object.kind
end

-- Resolves an object, { kind =, namespace =, name = }, or a kind and a key.
function objects.place(env, verb, ref, key)
  if type(ref) == "string" then
    if type(key) ~= "string" then
      raw.raise(verb .. ': expected an object, or a kind and a key such as "shop/web"')
    end
    local namespace, name = key:match "^([^/]+)/(.+)$"
    ref = { kind = ref, namespace = namespace, name = name or key }
  elseif type(ref) ~= "table" then
    raw.raise(verb .. ": expected an object, or a kind and a key, not " .. type(ref))
  end
  local metadata = ref.metadata or ref
  local resource = objects.resource(env, verb, kind_of(verb, ref))
  if type(metadata.name) ~= "string" then
    raw.raise(verb .. ": the object has no name")
  end
  local namespace = resource.namespaced and (metadata.namespace or "default") or nil
  return {
    resource = resource,
    namespace = namespace,
    name = metadata.name,
    key = namespace and namespace .. "/" .. metadata.name or metadata.name,
  }
end

-- "/api/v1/namespaces/shop/pods/web"
function objects.path(place)
  local resource = place.resource
  return (resource.group == "" and "/api/" or "/apis/" .. resource.group .. "/")
    .. resource.version
    .. (place.namespace and "/namespaces/" .. place.namespace or "")
    .. "/"
    .. resource.plural
    .. (place.name and "/" .. place.name or "")
end

-- The response as a table, and its code.
function objects.request(env, method, path, body)
  local code, text = test.request(env.engine, method, path, body and "application/json" or nil, body)
  return decode(text), code
end

-- The object, or nil and the error.
function objects.get(env, place)
  local object, code = objects.request(env, "GET", objects.path(place))
  if code ~= 200 then
    return nil, object.message
  end
  return object
end

-- As it will be stored: with what a cluster gives to each object.
local function complete(env, place, object, before)
  local made = deep_copy(object)
  local metadata = made.metadata
  local old = before and before.metadata or {}
  made.apiVersion, made.kind = objects.api_version(place.resource), place.resource.kind
  metadata.namespace = place.namespace
  metadata.resourceVersion = nil
  metadata.creationTimestamp = metadata.creationTimestamp
    or old.creationTimestamp
    or os.date("!%Y-%m-%dT%H:%M:%SZ", math.floor(test.now(env.engine)))
  if not metadata.uid then
    env.uids = env.uids + 1
    metadata.uid = old.uid or ("00000000-0000-4000-8000-%012d"):format(env.uids)
  end
  return made
end

local function store(env, verb, place, object, before)
  local ok, problem = test.put(env.engine, json.encode(complete(env, place, object, before)))
  if not ok then
    raw.raise(verb .. ": " .. problem)
  end
  return objects.get(env, place)
end

local function check(verb, object)
  if type(object) ~= "table" or type(object.metadata) ~= "table" then
    raw.raise(verb .. ": expected an object, a table with kind and metadata")
  end
end

-- Namespaces are made with the first object in them: to add one that was made so is no mistake.
function objects.add(env, verb, object)
  check(verb, object)
  local place = objects.place(env, verb, object)
  local before = objects.get(env, place)
  if before and place.resource.kind ~= "Namespace" then
    raw.raise(("%s: %s %s already exists; use env:update to change it"):format(
      verb, objects.name_of(place.resource), place.key))
  end
  return store(env, verb, place, object, before), place
end

function objects.update(env, verb, object)
  check(verb, object)
  local place = objects.place(env, verb, object)
  local before, problem = objects.get(env, place)
  if not before then
    raw.raise(verb .. ": " .. problem)
  end
  return store(env, verb, place, object, before), place
end

-- A merge patch, by RFC 7396.
local function merge(target, patch)
  if type(patch) ~= "table" or #patch > 0 then
    return patch
  end
  local result = type(target) == "table" and target or {}
  for key, value in pairs(patch) do
    if value == raw.null then
      result[key] = nil
    else
      result[key] = merge(result[key], value)
    end
  end
  return result
end

function objects.patch(env, verb, place, patch)
  local before, problem = objects.get(env, place)
  if not before then
    raw.raise(verb .. ": " .. problem)
  end
  return store(env, verb, place, merge(deep_copy(before), deep_copy(patch)), before)
end

-- Objects with finalizers wait for them, and what goes with a kind or a namespace is the cluster's to know: else it is
-- gone at once, as kubectl delete --force has it.
local WHOLE = { CustomResourceDefinition = true, Namespace = true }

function objects.delete(env, verb, place)
  local object, problem = objects.get(env, place)
  if not object then
    raw.raise(verb .. ": " .. problem)
  elseif not object.metadata.finalizers and not WHOLE[object.kind] then
    test.remove(env.engine, objects.path(place))
    return
  end
  local response, code = objects.request(env, "DELETE", objects.path(place) .. "?gracePeriodSeconds=0")
  if code >= 300 then
    raw.raise(verb .. ": " .. response.message)
  end
end

-- Objects of a kind that a selector and a namespace match.
function objects.list(env, verb, kind, given)
  local resource = objects.resource(env, verb, kind)
  local path = objects.path { resource = resource, namespace = given.namespace }
  local selector = given.selector and "?labelSelector=" .. given.selector:gsub("[^%w]", function(c)
    return ("%%%02X"):format(c:byte())
  end) or ""
  local response, code = objects.request(env, "GET", path .. selector)
  if code ~= 200 then
    raw.raise(verb .. ": " .. response.message)
  end
  local items = {}
  for i, item in ipairs(response.items) do
    item.apiVersion, item.kind = objects.api_version(resource), resource.kind
    items[i] = item
  end
  return items
end

-- Objects of a file: YAML with any number of documents, or JSON; each may be a List or an array.
function objects.read_file(path)
  local read, problem = test.read_file(path)
  if not read then
    raw.raise(problem)
  end
  for i, found in ipairs(read) do
    local object = decode(found.json)
    object.kind, object.apiVersion = object.kind or found.kind, object.apiVersion or found.apiVersion
    read[i] = object
  end
  return read
end

return objects
