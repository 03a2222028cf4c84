-- k8s.patch: changes a part of an object.
local raw = ...

local options = require "k8s.options"
local write = require "k8s.write"

local is_view, each, array = raw.view.is, raw.view.ipairs, raw.json.array

local PATCH_OPTIONS = options.extend(write.SENDING, { type = "string", lock = "boolean" })

local PATCH_TYPES = {
  merge = "application/merge-patch+json",
  json = "application/json-patch+json",
  strategic = "application/strategic-merge-patch+json",
}

-- The server compares the version that the patched object has with the one it holds. (A `test` of a JSON patch would
-- answer 422, and that is no conflict.)
local function locked_patch(place, patch, form)
  local version = write.version_to_lock("k8s.patch", place)
  if form ~= "json" then
    return write.with_metadata("k8s.patch", patch, { resourceVersion = version }, true)
  end
  local new = { { op = "replace", path = "/metadata/resourceVersion", value = version } }
  for i, operation in (is_view(patch) and each or ipairs)(patch) do
    new[i + 1] = operation
  end
  return new
end

-- k8s.patch(ref, patch, { type = "merge"|"json"|"strategic" }): changes a part of an object.
return function(ref, patch, given)
  local own = options.check("k8s.patch", given, PATCH_OPTIONS)
  local place, form = write.place_of_ref("k8s.patch", ref), own.type or "merge"
  if not PATCH_TYPES[form] then
    raw.raise('k8s.patch: type must be "merge", "json" or "strategic", not "' .. form .. '"')
  end
  if not write.is_object(patch) then
    raw.raise("k8s.patch: the patch must be a table, not " .. write.shown(patch))
  end
  if form == "json" and not is_view(patch) and next(patch) == nil then
    patch = array {}
  end
  local request = write.request_of(place, own)
  request.content_type = PATCH_TYPES[form]
  return write.send("k8s.patch", place, request, own.lock and locked_patch(place, patch, form) or patch)
end
