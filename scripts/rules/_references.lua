-- Which config maps, secrets and claims a pod spec names: by variables, whole environments, volumes and projected ones.
local pods = require "_pods"
local values = require "_values"

local map, maps, text = values.map, values.maps, values.text

local references = {}

-- The fields by which each is named.
local FIELDS = {
  configmaps = { variable = "configMapKeyRef", environment = "configMapRef", volume = "configMap", name = "name" },
  secrets = { variable = "secretKeyRef", environment = "secretRef", volume = "secret", name = "secretName" },
}

-- Calls fn(name, optional, key, path, ...) if the holder's field names something. The path comes as a format with its
-- numbers: most are never shown.
local function tell(fn, holder, field, name_field, format, ...)
  local reference = holder and map(holder[field])
  local name = reference and text(reference[name_field])
  if name then
    fn(name, reference.optional == true, text(reference.key), format .. "." .. field .. "." .. name_field, ...)
  end
end

local function of_containers(obj, fields, fn)
  for container, place in pods.containers(obj) do
    for i, variable in maps(container.env) do
      local source = map(variable.valueFrom)
      tell(fn, source, fields.variable, "name", "%s[%d].env[%d].valueFrom", place.field, place.i - 1, i)
    end
    for i, source in maps(container.envFrom) do
      tell(fn, source, fields.environment, "name", "%s[%d].envFrom[%d]", place.field, place.i - 1, i)
    end
  end
end

local function of_volumes(spec, fields, fn)
  for i, volume in maps(spec.volumes) do
    tell(fn, volume, fields.volume, fields.name, "volumes[%d]", i)
    local projected = map(volume.projected)
    for j, source in maps(projected and projected.sources) do
      tell(fn, source, fields.volume, "name", "volumes[%d].projected.sources[%d]", i, j)
    end
  end
end

-- Calls fn(name, optional, key, path, ...) for each config map or secret that is named, `what` being "configmaps" or
-- "secrets"; path:format(...) is the name's place in the pod spec. What pulls images is told by image_pull_secrets.
function references.each(obj, what, fn)
  local spec = pods.spec(obj)
  if spec then
    of_containers(obj, FIELDS[what], fn)
    of_volumes(spec, FIELDS[what], fn)
  end
end

-- for i, name in ...: the secrets for images, from 0 up.
function references.image_pull_secrets(holder)
  local next_map, list, from = maps(holder.imagePullSecrets)
  return function(_, i)
    local at, secret = next_map(list, i)
    return at, secret and (text(secret.name) or "")
  end, nil, from
end

-- Calls fn(name, place of the volume) for each claim.
function references.claims(obj, fn)
  local spec = pods.spec(obj)
  for i, volume in maps(spec and spec.volumes) do
    local claim = map(volume.persistentVolumeClaim)
    local name = claim and text(claim.claimName)
    if name then
      fn(name, i)
    end
  end
end

-- The account of the pods, nil where they have the default one.
function references.account(obj)
  local spec = pods.spec(obj)
  return spec and (text(spec.serviceAccountName) or text(spec.serviceAccount)) or nil
end

return references
