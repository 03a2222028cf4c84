-- Which config maps, secrets and claims a pod spec names: by variables, whole environments, volumes and projected ones.
local pods = require "_pods"
local shapes = require "_shapes"
local values = require "_values"

local map, maps, text = values.map, values.maps, values.text

local references = {}

-- The fields by which each is named.
local FIELDS = {
  configmaps = { variable = "configMapKeyRef", environment = "configMapRef", volume = "configMap", name = "name" },
  secrets = { variable = "secretKeyRef", environment = "secretRef", volume = "secret", name = "secretName" },
}

-- How fields are read for an index: whoever names something is not the object that is asked about, and what of it is of
-- another type than it should be names nothing. For the object itself _shapes.lua reads them.
local LAX = {
  maps = function(holder, field)
    return maps(holder and holder[field])
  end,
  expect = function(_, value)
    return map(value)
  end,
}

-- Calls fn(name, optional, key, path, ...) if the holder's field names something. The path comes as a format with its
-- numbers: most are never shown.
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

-- Calls fn(name, optional, key, path, ...) for each config map or secret that is named, `what` being "configmaps" or
-- "secrets"; path:format(...) is the name's place in the pod spec. What pulls images is told by image_pull_secrets.
-- What it cannot read is an error, as in _shapes.lua.
function references.each(obj, what, fn)
  each(obj, shapes, FIELDS[what], fn)
end

-- The same for an index, where it is passed over.
function references.index(obj, what, fn)
  each(obj, LAX, FIELDS[what], fn)
end

-- for i, name in ...: the secrets for images, from 0 up.
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

-- Calls fn(name, place of the volume) for each claim.
function references.claims(obj, fn)
  each_claim(obj, shapes, fn)
end

-- The same for an index.
function references.index_claims(obj, fn)
  each_claim(obj, LAX, fn)
end

-- The account of the pods, nil where they have the default one.
function references.account(obj)
  local spec = pods.spec(obj)
  return spec and (text(spec.serviceAccountName) or text(spec.serviceAccount)) or nil
end

return references
