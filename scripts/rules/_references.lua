-- ConfigMaps, Secrets and claims that a pod spec references: in env, envFrom, volumes and projected volumes.
local pods = require "_pods"
local shapes = require "_shapes"
local values = require "_values"

local map, maps, text = values.map, values.maps, values.text

local references = {}

-- Fields with the references.
local FIELDS = {
  configmaps = { variable = "configMapKeyRef", environment = "configMapRef", volume = "configMap", name = "name" },
  secrets = { variable = "secretKeyRef", environment = "secretRef", volume = "secret", name = "secretName" },
}

-- Readers of fields for an index, where a field of the wrong type references nothing: the audit of that object reports
-- it. Fields of the audited object are read with _shapes.lua.
local LAX = {
  maps = function(holder, field)
    return maps(holder and holder[field])
  end,
  expect = function(_, value)
    return map(value)
  end,
}

-- Calls fn(name, optional, key, path, ...) if the holder's field is a reference. The path is a format with its numbers,
-- because most paths are never shown.
local function tell(read, fn, prefix, holder, field, name_field, format, ...)
  local found = holder and holder[field]
  local reference = map(found)
  if found ~= nil and (not reference or reference[1] ~= nil) then
    reference = read.expect("map", found, prefix, format .. "." .. field, ...)
  end
  local name = reference and text(reference[name_field])
  if name then
    fn(name, reference.optional == true, text(reference.key), format .. "." .. field .. "." .. name_field, ...)
  end
end

local function of_containers(obj, read, fields, fn)
  for container, place in pods.containers(obj) do
    local prefix, list, at = place.prefix, place.field, place.i - 1
    for i, variable in read.maps(container, "env", place) do
      local source = read.expect("map", variable.valueFrom, place, "env[%d].valueFrom", i)
      tell(read, fn, prefix, source, fields.variable, "name", "%s[%d].env[%d].valueFrom", list, at, i)
    end
    for i, source in read.maps(container, "envFrom", place) do
      tell(read, fn, prefix, source, fields.environment, "name", "%s[%d].envFrom[%d]", list, at, i)
    end
  end
end

local function of_volumes(spec, prefix, read, fields, fn)
  for i, volume in read.maps(spec, "volumes", prefix) do
    tell(read, fn, prefix, volume, fields.volume, fields.name, "volumes[%d]", i)
    local projected = read.expect("map", volume.projected, prefix, "volumes[%d].projected", i)
    for j, source in read.maps(projected, "sources", projected and ("%s.volumes[%d].projected"):format(prefix, i)) do
      tell(read, fn, prefix, source, fields.volume, "name", "volumes[%d].projected.sources[%d]", i, j)
    end
  end
end

local function each(obj, read, fields, fn)
  local spec, prefix = pods.spec(obj)
  if spec then
    of_containers(obj, read, fields, fn)
    of_volumes(spec, prefix, read, fields, fn)
  end
end

-- Calls fn(name, optional, key, path, ...) for each reference to a ConfigMap or Secret; `what` is "configmaps" or
-- "secrets", and path:format(...) is the path of the name in the pod spec. Secrets for pulling images are left to
-- image_pull_secrets. Fields of the wrong type raise an error, as in _shapes.lua.
function references.each(obj, what, fn)
  each(obj, shapes, FIELDS[what], fn)
end

-- The same for an index: fields of the wrong type are skipped.
function references.index(obj, what, fn)
  each(obj, LAX, FIELDS[what], fn)
end

-- for i, name in ...: the Secrets for pulling images, from 0 up.
function references.image_pull_secrets(holder, where)
  local next_secret = shapes.maps(holder, "imagePullSecrets", where)
  return function()
    local at, secret = next_secret()
    return at, secret and (text(secret.name) or "")
  end
end

local function each_claim(obj, read, fn)
  local spec, prefix = pods.spec(obj)
  for i, volume in read.maps(spec, "volumes", prefix) do
    local claim = read.expect("map", volume.persistentVolumeClaim, prefix, "volumes[%d].persistentVolumeClaim", i)
    local name = claim and text(claim.claimName)
    if name then
      fn(name, i)
    end
  end
end

-- Calls fn(name, number of the volume) for each claim.
function references.claims(obj, fn)
  each_claim(obj, shapes, fn)
end

-- The same for an index.
function references.index_claims(obj, fn)
  each_claim(obj, LAX, fn)
end

-- The service account of the pods; nil for the default one.
function references.account(obj)
  local spec = pods.spec(obj)
  return spec and (text(spec.serviceAccountName) or text(spec.serviceAccount)) or nil
end

return references
