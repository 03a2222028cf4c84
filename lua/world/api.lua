-- Writes of the cluster's components. What is refused changes nothing; the controller meets it again later.
local cache = require "world.cache"
local raw = require "world.raw"
local values = require "world.values"

local api = {}

local function path_of(resource, namespace, name, subresource)
  local parts = { resource.path }
  if namespace then parts[#parts + 1] = "namespaces/" .. namespace end
  parts[#parts + 1] = resource.plural
  parts[#parts + 1] = name
  parts[#parts + 1] = subresource
  return table.concat(parts, "/")
end

-- Every function returns true, or false, the code, the reason and the message.
local function send(agent, method, path, body, content_type)
  local code, reason, message = raw.request(method, path, agent, content_type or "application/json", body)
  return code < 300, code, reason, message
end

function api.create(agent, id, namespace, body)
  local resource = cache.resources[id]
  body.apiVersion, body.kind = resource.api_version, resource.kind
  return send(agent, "POST", path_of(resource, namespace), body)
end

-- `body` to a subresource of the object.
function api.post(agent, id, object, subresource, body)
  local metadata = object.metadata
  return send(agent, "POST", path_of(cache.resources[id], metadata.namespace, metadata.name, subresource), body)
end

-- A merge patch of the object, or of a subresource. Only that object is changed, not another of its name.
function api.patch(agent, id, object, patch, subresource)
  local metadata = object.metadata
  patch.metadata = values.merged(patch.metadata, { uid = metadata.uid })
  return send(agent, "PATCH", path_of(cache.resources[id], metadata.namespace, metadata.name, subresource), patch,
    "application/merge-patch+json")
end

-- Has the object this status; writes nothing if it has it already.
function api.status(agent, id, object, status)
  local patch = values.diff(object.status or {}, status)
  return patch and api.patch(agent, id, object, { status = patch }, "status") or true
end

-- `policy` and `grace` may be nil.
function api.delete(agent, id, object, policy, grace)
  local metadata = object.metadata
  return send(agent, "DELETE", path_of(cache.resources[id], metadata.namespace, metadata.name), {
    kind = "DeleteOptions", apiVersion = "v1", preconditions = { uid = metadata.uid }, propagationPolicy = policy,
    gracePeriodSeconds = grace,
  })
end

return api
