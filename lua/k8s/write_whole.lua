-- k8s.create and k8s.update: writes of whole objects.
local raw = ...

local options = require "k8s.options"
local write = require "k8s.write"

local whole = {}

local CREATE_OPTIONS = options.extend(write.SENDING, { of = "view or reference" })
local UPDATE_OPTIONS = options.extend(write.SENDING, { of = "view or reference", lock = "boolean" })

-- The write log names what `of` names: the body of a collection says for itself what it is.
local function place_of(verb, object, own)
  if not own.of then
    return write.place_of(verb, object)
  end
  if (own.subresource or "") == "" then
    raw.raise(verb .. ": of is for subresources only; set subresource")
  end
  return write.place_of_ref(verb, own.of)
end

-- k8s.create(object, options): the object as the server made it, or nil, err.
function whole.create(object, given)
  local own = options.check("k8s.create", given, CREATE_OPTIONS)
  write.check_object("k8s.create", object)
  object = write.own(object)
  local place = place_of("k8s.create", object, own)
  return write.send("k8s.create", place, write.request_of(place, own), object)
end

-- k8s.update(object, options): replaces it; nil, err with reason "Conflict" when it has another version by now.
function whole.update(object, given)
  local own = options.check("k8s.update", given, UPDATE_OPTIONS)
  write.check_object("k8s.update", object)
  object = write.own(object)
  local place = place_of("k8s.update", object, own)
  if own.lock then
    local version = write.version_to_lock("k8s.update", place)
    object = write.with_metadata("k8s.update", object, { resourceVersion = version }, true)
  end
  return write.send("k8s.update", place, write.request_of(place, own), object)
end

return whole
