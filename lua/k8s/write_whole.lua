-- k8s.create and k8s.update: writes of whole objects.
local options = require "k8s.options"
local write = require "k8s.write"

local whole = {}

local CREATE_OPTIONS = options.extend(write.SENDING, { of = "view or reference" })
local UPDATE_OPTIONS = options.extend(write.SENDING, { of = "view or reference", lock = "boolean" })

-- k8s.create(object, options): the object as the server made it, or nil, err.
function whole.create(object, given)
  local own = options.check("k8s.create", given, CREATE_OPTIONS)
  write.check_object("k8s.create", object)
  object = write.own(object)
  local place = own.of and write.place_of_ref("k8s.create", own.of) or write.place_of("k8s.create", object)
  return write.send("k8s.create", place, write.request_of(place, own), object)
end

-- k8s.update(object, options): replaces it; nil, err with reason "Conflict" when it has another version by now.
function whole.update(object, given)
  local own = options.check("k8s.update", given, UPDATE_OPTIONS)
  write.check_object("k8s.update", object)
  object = write.own(object)
  local place = own.of and write.place_of_ref("k8s.update", own.of) or write.place_of("k8s.update", object)
  if own.lock then
    local version = write.version_to_lock("k8s.update", place)
    object = write.with_metadata("k8s.update", object, { resourceVersion = version }, true)
  end
  return write.send("k8s.update", place, write.request_of(place, own), object)
end

return whole
