-- k8s.delete: deletes one object.
local raw = ...

local options = require "k8s.options"
local write = require "k8s.write"

local DELETE_OPTIONS = options.extend(
  write.COMMON,
  { propagation = "string", precondition = "table", grace_period = "duration", lock = "boolean" }
)

local PRECONDITION = { uid = "string", resource_version = "string" }

local PROPAGATION = { background = "Background", foreground = "Foreground", orphan = "Orphan" }

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
  local version = own.lock and write.version_to_lock("k8s.delete", place) or precondition.resource_version
  return {
    apiVersion = "v1",
    kind = "DeleteOptions",
    propagationPolicy = propagation,
    gracePeriodSeconds = own.grace_period and raw.write.seconds("k8s.delete: grace_period", own.grace_period),
    preconditions = (uid or version) and { uid = uid, resourceVersion = version } or nil,
    dryRun = write.is_tried(own) and { "All" } or nil,
  }
end

-- k8s.delete(ref, { propagation, precondition }): the object as it goes, or true when it is gone, or nil, err.
return function(ref, given)
  local own = options.check("k8s.delete", given, DELETE_OPTIONS)
  local place = write.place_of_ref("k8s.delete", ref)
  return write.send("k8s.delete", place, write.request_of(place, own), delete_options(place, own))
end
