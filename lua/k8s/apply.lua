-- k8s.apply: server-side apply.
local raw = ...

local options = require "k8s.options"
local write = require "k8s.write"

local APPLY_OPTIONS = options.extend(write.SENDING, { force = "boolean", lock = "boolean" })

-- k8s.apply(ref, object, { manager, force }): server-side apply of the fields that the object has.
return function(ref, object, given)
  local own = options.check("k8s.apply", given, APPLY_OPTIONS)
  local place = write.place_of_ref("k8s.apply", ref)
  write.check_object("k8s.apply", object)
  local request = write.request_of(place, own)
  request.force = own.force
  local body = write.with_metadata("k8s.apply", object, { name = place.name, namespace = place.namespace })
  if own.lock then
    body.metadata.resourceVersion = write.version_to_lock("k8s.apply", place)
  end
  local resource, err = write.resource_of("k8s.apply", place.kind, own.subresource)
  if not resource then
    return nil, err
  end
  if body.apiVersion == nil and body.kind == nil then
    body.apiVersion, body.kind = raw.write.type_of(resource)
  end
  return write.send_to(resource, "k8s.apply", request, body)
end
